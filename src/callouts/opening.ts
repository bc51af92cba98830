/** What a market without people begins with. */
import { Context, Effect } from "effect"
import type { AttributedTrade, NewCallout } from "../domain/wallets/Callout.ts"
import { CalloutStore } from "./CalloutStore.ts"

/** A callout with a past. */
export interface OpeningCallout {
  readonly callout: NewCallout
  readonly clicks: number
  readonly trades: ReadonlyArray<AttributedTrade>
}

/** Callouts to begin with: none, unless the market is invented. */
export const Opening = Context.Reference<ReadonlyArray<OpeningCallout>>("fathom/callouts/Opening", {
  defaultValue: () => []
})

/** Posts them, each with its past, unless they are there from an earlier start. A store that is away is no reason not to begin. */
export const postOpening = Effect.gen(function* () {
  const store = yield* CalloutStore
  for (const { callout, clicks, trades } of yield* Opening) {
    if (yield* store.post(callout)) {
      yield* store.recordClick(callout.id, clicks)
      yield* Effect.forEach(trades, store.attribute, { discard: true })
    }
  }
}).pipe(Effect.catch(({ cause }) => Effect.logWarning("The opening callouts were not posted", cause)))
