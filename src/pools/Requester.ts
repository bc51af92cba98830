import { Context } from "effect"
import type { RequesterId } from "./Turns.ts"

/** The key whose request runs, to which the mints that it asks for are counted; null for work of the service itself. */
export const Requester = Context.Reference<RequesterId>("fathom/pools/Requester", { defaultValue: () => null })
