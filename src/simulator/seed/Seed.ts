/** Demo data of the simulated market. It is written through the same ports that the endpoints read. */
import { Clock, type Config, Context, Deferred, Effect, Layer, Schedule } from "effect"
import type { AlertStore } from "../../alerts/AlertStore.ts"
import { attributeTrades, linksOf } from "../../callouts/attributionFeed.ts"
import type { CalloutStore } from "../../callouts/CalloutStore.ts"
import { keepCopies } from "../../wallets/copying/copySource.ts"
import { FollowStore } from "../../wallets/copying/FollowStore.ts"
import type { Market } from "../../market/tape/Market.ts"
import type { TrackerStore } from "../../wallets/tracker/TrackerStore.ts"
import type { IdentityStore } from "../../wallets/IdentityStore.ts"
import type { NewFollow } from "../../api/schemas/Copying.ts"
import { SimulatorThread } from "../SimulatorThread.ts"
import { fillsFrom } from "../traders/followersJournal.ts"
import { WELCOME } from "../venues/fundingWorld.ts"
import { alertsOf, seedAlerts } from "./alerts.ts"
import { calloutLinksOf, calloutsOf, seedCallouts } from "./callouts.ts"
import { identitiesOf, seedIdentities } from "./identities.ts"
import { orWarn } from "./patience.ts"
import { seedTracker, trackedWalletsOf } from "./tracker.ts"

/** The ports that demo data is written to, and the tape with the trades that are attributed to demo callouts. */
export type SeededPorts = AlertStore | CalloutStore | FollowStore | IdentityStore | TrackerStore | Market

export class SeedProgress extends Context.Service<
  SeedProgress,
  {
    /** Completes when everything has been written or given up. */
    readonly done: Effect.Effect<void>
  }
>()("fathom/simulator/seed/SeedProgress") {}

/** Completes when every follow is in the store. `keepCopies` writes the follows. */
const followed = Effect.fnUntraced(function* (follows: ReadonlyArray<NewFollow>) {
  const store = yield* FollowStore
  yield* Effect.forEach(
    follows,
    ({ id }) =>
      store.find(WELCOME, id).pipe(
        Effect.orElseSucceed(() => null),
        Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: (follow) => follow !== null })
      ),
    { discard: true }
  )
})

/**
 * Writes demo wallets, alerts, callouts and identities once. Keeps writing follows, fills and attributed trades until
 * the scope closes. Everything is written in the background. An unavailable store is retried for two minutes, then
 * that part is given up with a warning. What an earlier start has written is not written again.
 */
export const layer: Layer.Layer<SeedProgress, Config.ConfigError, SimulatorThread | SeededPorts> = Layer.unwrap(
  Effect.gen(function* () {
    const { fills, follows, mints, wallets } = yield* SimulatorThread
    const nowMs = yield* Clock.currentTimeMillis
    const callouts = calloutsOf({ nowMs, mints, wallets })
    const writes = Effect.all(
      [
        seedTracker(trackedWalletsOf(wallets)).pipe(orWarn("The demo wallets were not written")),
        seedAlerts(alertsOf(mints)).pipe(orWarn("The demo alerts were not written")),
        seedIdentities(identitiesOf({ nowMs, wallets })).pipe(orWarn("The demo identities were not written")),
        seedCallouts(callouts).pipe(orWarn("The demo callouts were not written")),
        followed(follows)
      ],
      { concurrency: "unbounded", discard: true }
    )
    const done = yield* Deferred.make<void>()
    return Layer.mergeAll(
      Layer.succeed(SeedProgress, SeedProgress.of({ done: Deferred.await(done) })),
      Layer.effectDiscard(Effect.forkScoped(Effect.ensuring(writes, Deferred.succeed(done, undefined)))),
      attributeTrades(linksOf(calloutLinksOf(callouts, nowMs))),
      keepCopies({ accountId: WELCOME, follows, fills: yield* fillsFrom(fills) })
    )
  })
)
