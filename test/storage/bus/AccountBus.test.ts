import { describe } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import * as AccountBusValkey from "../../../src/storage/valkey/AccountBusValkey.ts"
import { Valkey } from "../../../src/storage/valkey/Valkey.ts"
import { client, emptied, isAvailable, sharedServer } from "../../support/valkey.ts"
import * as MemoryAccountBus from "../../support/memoryAccountBus.ts"
import { accountBusContract } from "./accountBusContract.ts"

accountBusContract("an account bus in memory", MemoryAccountBus.layer, (ms) => TestClock.adjust(Duration.millis(ms)))

describe.runIf(isAvailable)("AccountBusValkey", () => {
  const shared = sharedServer()
  /** Leases end by the server's clock, so their ends are moved closer. */
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
