import { Context } from "effect"
import type { RequesterId } from "./Turns.ts"

/**
 * The key whose request is running. Mints that the request asks for count against the key. Null for work of the
 * service itself.
 */
export const Requester = Context.Reference<RequesterId>("fathom/quotes/pools/Requester", { defaultValue: () => null })
