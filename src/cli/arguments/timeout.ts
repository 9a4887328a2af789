import { InvalidArgumentError, Option } from "commander";

export function timeoutOption(): Option {
  return new Option("--timeout <seconds>", "fail if the server is silent for this long").argParser((text) => {
    const value = Number(text);
    if (text.trim() !== "" && value > 0 && value <= 86_400) return value;
    throw new InvalidArgumentError("It must be a number of seconds above 0, at most one day.");
  });
}
