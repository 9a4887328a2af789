import { stem } from "./stem.ts";

/** Words of everyday and technical English. In one line each may stand for each. */
const groups = `
create add new insert make build generate compose produce
delete remove erase drop clear discard purge
update edit modify change alter patch set revise adjust
search find lookup query locate discover seek explore
list enumerate browse index catalog
get fetch retrieve obtain read load pull
show display view render preview present
send deliver dispatch submit post transmit
save store write export persist keep
copy duplicate clone replicate
move rename transfer relocate
compare diff difference versus contrast
merge combine join unite concatenate
split divide separate partition
convert transform translate turn
calculate compute evaluate estimate
analyze analysis examine inspect assess evaluate
check verify validate test confirm
summarize summary digest overview abstract condense
recommend suggest recommendation suggestion propose advise
download fetch save
upload import attach
start run launch execute begin invoke trigger
stop end terminate kill cancel abort halt
pause suspend resume continue
connect link attach bind integrate
login signin authenticate authentication authorize credential
logout signout
schedule plan arrange book appointment
monitor watch track observe follow
notify alert notification remind reminder warn
subscribe follow unsubscribe
buy purchase order shop acquire
sell sale vend
pay payment charge checkout billing
rent lease rental letting
explain describe description clarify define definition
learn study teach tutor education educational course lesson
write compose draft author
draw paint sketch illustrate drawing painting
play game gaming
speak talk say pronounce voice speech
translate translation interpret
rewrite rephrase paraphrase reword polish
extract scrape parse crawl harvest
scan detect recognize identify
encode encrypt cipher
decode decrypt
compress zip archive
decompress unzip extract
deploy release publish ship rollout
install setup configure
debug troubleshoot diagnose
fix repair correct resolve
count number total amount quantity
sort order rank arrange
filter narrow refine
big large huge
cheap affordable inexpensive budget discount
near nearby close around vicinity proximity local
latest recent new newest current live
popular trending hot trend top
best top highest
quick fast rapid
picture image photo photograph pic
movie film cinema
show series tv television
video clip footage
song track music tune
audio sound
playlist mix
lyric lyrics
album record
singer artist musician band
email mail inbox gmail
message sms text chat
phone telephone mobile cell
call dial
document doc file
folder directory dir mkdir
file path
spreadsheet excel xlsx xls workbook worksheet sheet csv
presentation ppt powerpoint slide slideshow pptx deck
word docx
pdf document
note memo notebook
table grid
row record
column field
chart graph plot diagram visualization visualize
flowchart diagram mermaid
mindmap diagram
map mapping
picture drawing canvas
website site webpage web page
url link uri address hyperlink
domain hostname dns whois
browser web internet online
article post blog story
paper article publication research study literature
academic scholar scholarly scientific research
news headline headlines
book novel ebook
author writer
library collection
dictionary definition glossary vocabulary thesaurus
quote quotation
joke humor funny
language linguistic
weather forecast climate meteorological
temperature heat
rain precipitation
hotel accommodation lodging stay hostel
flight airline airplane plane aircraft aviation
airport terminal
trip travel journey vacation tour itinerary holiday tourism getaway
train railway rail
bus transit transport transportation
subway metro underground
car vehicle automobile auto
driving drive route directions navigation
restaurant dining eatery cafe
food meal dish cuisine
recipe cook cooking dish ingredient
diet nutrition calorie nutritional
drink beverage cocktail
grocery supermarket
exercise workout fitness gym training
health medical healthcare wellness
doctor physician clinician
hospital clinic
disease illness condition disorder
drug medicine medication pharmaceutical
symptom diagnosis
job career employment vacancy position hiring
resume cv curriculum
interview recruit recruiting
salary wage pay compensation
company business firm corporation enterprise organization
customer client
employee staff worker
person people contact
user member account profile
friend follower
team group
stock share equity ticker
market trading exchange
price cost rate pricing quote fare
currency forex exchange money
crypto cryptocurrency bitcoin btc ethereum eth coin token blockchain
wallet balance
invest investment investor portfolio
finance financial money
bank banking
loan mortgage credit repayment
tax vat
insurance coverage
house home property estate apartment
location place position coordinate geolocation
address geocode coordinate location
latitude longitude coordinate gps
city town municipality
country nation
zip postal postcode zipcode
state province region
distance proximity
time clock hour
timezone time
date day calendar
calendar event schedule meeting agenda appointment
meeting conference call
event happening occasion
ticket booking reservation
todo task reminder checklist
project management
issue bug ticket defect
repository repo git github
commit revision changeset
branch fork
pullrequest merge
code source program script programming
function method procedure
library package module dependency
npm package
database db sql
query sql
schema structure
server host machine
container docker image
cluster kubernetes k8s
cloud aws azure gcp
log logs logging
error exception failure fault
performance speed benchmark
security vulnerability threat cve
password credential secret
key token
user identity
permission access role
traffic visitor analytics
statistic stats statistics metric metrics
data dataset information info
info information detail details about
report summary
survey questionnaire poll form quiz
question answer faq
review rating feedback opinion
rating score rank
sentiment emotion opinion mood
keyword term tag hashtag
category type class genre kind
product item goods merchandise
shop store retailer shopping ecommerce
cart basket
coupon discount deal promo voucher
gift present
fashion clothing clothes apparel outfit wear
beauty cosmetic makeup skincare
sport sports athletic
football soccer
player athlete
match game fixture
team club
league championship tournament competition
score result
standings ranking table leaderboard
pet animal dog cat
plant garden gardening flower
space astronomy nasa planet star astronomical
earthquake seismic quake
science scientific
math mathematics mathematical arithmetic
formula equation expression
art artwork museum gallery
design designer creative
logo brand branding
color colour palette
font typeface
icon emoji
meme gif
qr qrcode barcode
law legal legislation regulation statute
court case lawsuit
government politics political parliament congress
election vote
history historical
religion religious bible
astrology horoscope zodiac tarot
charity donation nonprofit
child kid kids children
school university college
student pupil learner
exam test quiz
flashcard memory
habit routine
podcast episode
stream streaming watch
subtitle caption transcript
advertisement ad ads advertising campaign marketing
seo ranking keyword
social twitter facebook instagram
tweet twitter
youtube video
reddit subreddit
wikipedia encyclopedia wiki
memory remember recall knowledge
graph node network
entity node
relation edge relationship
browser playwright puppeteer selenium
click press tap
screenshot capture snapshot
terminal shell command console bash cli
process pid
api endpoint
request http call
webhook callback
proxy vpn
ip address
shipping shipment delivery parcel package courier
track trace status
order purchase
invoice bill receipt
inventory stock warehouse
random generate
name title
image vision ocr
face facial
text string
size length dimension
resize scale crop
format style
background backdrop
background wallpaper
noise denoise
beat tempo rhythm bpm
pitch tone
chord guitar
random dice
fuel petrol gas gasoline
electric ev charger charging
park parking
flight ticket
air pollution quality aqi
ocean sea surf wave beach tide
quake disaster
station stop
real estate
gene genetic genome
protein molecule
chemical compound chemistry
clinical trial
variant mutation
`;

/** Terms that may stand for a term. */
export class RelatedWords {
  readonly #byTerm = new Map<string, Set<string>>();

  constructor() {
    for (const line of groups.trim().split("\n")) {
      const terms = line.split(" ").map((word) => stem(word));
      for (const term of terms) {
        const related = this.#byTerm.get(term) ?? new Set();
        for (const other of terms) if (other !== term) related.add(other);
        this.#byTerm.set(term, related);
      }
    }
  }

  of(term: string): string[] {
    return [...(this.#byTerm.get(term) ?? [])];
  }
}
