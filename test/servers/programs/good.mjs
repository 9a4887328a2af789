// Ends when its input ends, as the protocol asks.
import { serve } from "./rpc.mjs";

serve();
