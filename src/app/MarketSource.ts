import { Context, type Effect } from "effect"
import type { Mint } from "../domain/Address.ts"

/** The market that the service answers from. */
export class MarketSource extends Context.Service<
  MarketSource,
  {
    /** For people: "a simulated market". */
    readonly description: string
    /** True when no real money is involved: then keys may be printed. */
    readonly sandbox: boolean
    /** Mints to load at start. */
    readonly mints: ReadonlyArray<Mint>
  }
>()("fathom/app/MarketSource") {}

/** Demo data beside the market. */
export class DemoData extends Context.Service<
  DemoData,
  {
    /** Completes when the demo data is written or given up; at once where there is none. */
    readonly written: Effect.Effect<void>
  }
>()("fathom/app/DemoData") {}
