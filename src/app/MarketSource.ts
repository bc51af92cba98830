import { Context } from "effect"
import type { Mint } from "../domain/Address.ts"

/** Which market the service answers from. */
export class MarketSource extends Context.Service<
  MarketSource,
  {
    /** For people: "a simulated market". */
    readonly description: string
    /** Whether money is only played with: then a key that is printed gives nothing away. */
    readonly sandbox: boolean
    /** Mints to load at start. */
    readonly mints: ReadonlyArray<Mint>
  }
>()("fathom/app/MarketSource") {}
