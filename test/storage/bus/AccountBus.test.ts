import { describe } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as SourceMonitor from "../../../src/health/SourceMonitor.ts"
import { AccountBus } from "../../../src/storage/bus/AccountBus.ts"
import * as AccountBusValkey from "../../../src/storage/valkey/AccountBusValkey.ts"
import { Valkey } from "../../../src/storage/valkey/Valkey.ts"
import { client, emptied, isAvailable, sharedServer } from "../../support/valkey.ts"
import { accountBusContract } from "./accountBusContract.ts"

accountBusContract("AccountBus.layerMemory", AccountBus.layerMemory, (ms) => TestClock.adjust(Duration.millis(ms)))

describe.runIf(isAvailable)("AccountBusValkey", () => {
  const shared = sharedServer()
  /** Leases end by the clock of the server: their ends are moved towards it. */
  const pass = (ms: number) =>
    Effect.gen(function* () {
      const valkey = yield* Valkey
      const key = "fathom:{accounts:a}:leases"
      const owners = (yield* valkey.send("ZRANGE", key, "0", "-1")) as ReadonlyArray<string>
      yield* Effect.forEach(owners, (owner) => valkey.send("ZINCRBY", key, `${-ms}`, owner))
    }).pipe(
      Effect.orDie,
      Effect.provide(Layer.unwrap(Effect.sync(() => client(shared().url).pipe(Layer.provide(SourceMonitor.layer)))))
    )
  accountBusContract(
    "AccountBusValkey.layer",
    (bounds) =>
      Layer.unwrap(
        Effect.map(Valkey, () => AccountBusValkey.layer(shared().url, bounds)).pipe(
          Effect.provide(emptied(shared).pipe(Layer.provide(SourceMonitor.layer)))
        )
      ),
    pass
  )
})
