/** Words of English that say nothing about what a tool does, and what people say when they ask politely. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about above after again against all also although am an and another any are as at be because been before being
  below between both but by can cannot could did do does doing done down during each either else ever every few for
  from further get gets getting got had has have having he her here hers herself him himself his how however i if in
  into is it its itself just let lets like ll may me might mine more most much must my myself neither no nor not now
  of off on once one only onto or other others our ours ourselves out over own per quite rather re really same shall
  she should since so some such than that the their theirs them themselves then there these they this those though
  through thus to too toward towards under until up upon us very via was we were what whatever when where whether
  which while who whom whose why will with within without would yes yet you your yours yourself ve don doesn didn isn
  aren won wouldn couldn shouldn im ive id
  additionally anyone anything assist assistance certain curious currently details ensure finally first furthermore
  give given gives glad good great hello help helpful helping hey hi include included includes including interested
  kindly know lastly learn looking love make makes making many moreover need needed needs offer ok okay please plus
  possible possibly provide provided provides providing recently regarding related second show something specific
  suggest sure tell thank thanks third today try trying use used useful user uses using various want wanted wants way
  ways well wonder wondering work working wish allow allows able etc eg ie th nd rd e g s t d m`
    .split(/\s+/)
    .filter((word) => word !== ""),
);
