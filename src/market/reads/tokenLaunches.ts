/** Launches as the signals of a token need them. */
import { Clock, Effect, Layer } from "effect"
import { LaunchReader, NO_LAUNCH } from "../../tokens/risk/LaunchReader.ts"
import { Market } from "../tape/Market.ts"
import { firstBuyers, LAUNCH_BUYERS } from "./firstBuyers.ts"

/** Answers from the launches and trades that were seen. */
export const layer: Layer.Layer<never, never, Market> = Layer.effect(
  LaunchReader,
  Effect.map(Market, (tape) => ({
    launchOf: Effect.fn("LaunchReader.launchOf")(function* (mint) {
      const launch = tape.launches.of(mint)
      if (launch === null) {
        return NO_LAUNCH
      }
      const { coverage, rows } = yield* firstBuyers(tape, launch, yield* Clock.currentTimeMillis)
      return {
        creator: launch.creator,
        buyers:
          rows?.map(({ afterMs, trade: { signature, slot }, wallet }) => ({ wallet, slot, signature, afterMs })) ??
          null,
        isCut: rows?.length === LAUNCH_BUYERS,
        coverage
      }
    })
  }))
)
