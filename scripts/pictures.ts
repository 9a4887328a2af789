import { writeFileSync } from "node:fs";
import { gatewayScreens, statusScreens } from "./pictures/screens.ts";
import { terminalPicture } from "./pictures/terminal-picture.ts";

/** Writes the pictures of README from what the commands print. */
writeFileSync("docs/pictures/status.svg", terminalPicture(statusScreens()));
writeFileSync("docs/pictures/gateway.svg", terminalPicture(gatewayScreens()));
