import { Effect } from "effect"
import { RequestContext } from "../middleware/RequestContext.ts"

/** The meta of an answer: the request id and these fields. */
export const metaWith = <const Fields extends object>(
  fields: Fields
): Effect.Effect<{ readonly requestId: string } & Fields> =>
  Effect.map(RequestContext, ({ id }) => ({ requestId: id, ...fields }))
