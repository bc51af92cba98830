/** Fills the bus of account writes: the leader reads the leases of other processes and appends what its feed hears. */
import { Effect, Layer, Schedule } from "effect"
import { SecretSource } from "../../domain/randomText.ts"
import { keepRunning, keepTrying } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { AccountBus } from "../../storage/bus/AccountBus.ts"
import { AppendRefused, type BusUnavailable } from "../../storage/bus/busLog.ts"
import type { Commitment } from "../Commitment.ts"
import { RelayedWrites } from "./RelayedWrites.ts"
import { AccountRelay } from "../accounts/AccountRelay.ts"
import { encodeMessage } from "./accountMessage.ts"

/** How often the leases are read. */
const LEASES_EVERY = "100 millis"
const RETRY_EVERY = "250 millis"
/** A message follows the previous one within this time, even when nothing was written. */
const BEAT_EVERY = "1 second"
/** The number of places of one slot. Each message takes the next place; a later slot has later places. */
const PLACES = 64
const SESSION_BYTES = 6

/** The slot of the message at a place; a later slot for a message beyond the PLACES of its slot. */
export const slotOfPlace = (place: number): number => Math.floor(place / PLACES)

/** Name of a chain's writes at a commitment. */
export const chainName = (genesis: string, commitment: Commitment): string => `${genesis}:${commitment}`

/** Appends the relay's messages until another process has appended. */
const append = Effect.fnUntraced(function* (
  bus: AccountBus["Service"],
  relay: RelayedWrites,
  chain: string
): Effect.fn.Return<AppendRefused, BusUnavailable> {
  let last = (yield* bus.newest(chain)) ?? 0
  let tried = last
  /** After a failure, goes on from what the bus has: the failed entry may have been appended. */
  const recover = Effect.fnUntraced(function* () {
    relay.begin()
    const newest =
      (yield* keepTrying("Reading the end of the account bus", { every: RETRY_EVERY })(bus.newest(chain))) ?? 0
    if (newest > last && newest !== tried) {
      return yield* new AppendRefused({ newest })
    }
    last = tried
  })
  const appendAll = Effect.gen(function* () {
    for (const message of relay.takeAll()) {
      tried = Math.max(last + 1, message.slot * PLACES)
      const bytes = encodeMessage(message, relay.bytesOf)
      yield* bus.append(chain, { after: last, place: tried, body: bytes })
      last = tried
    }
  })
  const step = Effect.gen(function* () {
    const beat = Effect.sync(() => relay.beat())
    yield* Effect.timeoutOrElse(relay.arrived.await, { duration: BEAT_EVERY, orElse: () => beat })
    relay.arrived.closeUnsafe()
    yield* Effect.catchTag(appendAll, "BusUnavailable", recover)
  })
  return yield* Effect.flip(Effect.forever(step))
})

/** Fills the bus until it is interrupted. Fails once another process has appended. */
const lead = (bus: AccountBus["Service"], relay: RelayedWrites, chain: string): Effect.Effect<never, AppendRefused> =>
  Effect.gen(function* () {
    yield* Effect.acquireRelease(
      Effect.sync(() => relay.lead()),
      () => Effect.sync(() => relay.resign())
    )
    const readLeases = Effect.suspend(() => bus.leases(chain, relay.known())).pipe(
      Effect.map((listed) => relay.list(listed)),
      // The feed goes on following the accounts that are known.
      Effect.catchTag("BusUnavailable", () => Effect.void)
    )
    yield* readLeases.pipe(
      Effect.repeat(Schedule.spaced(LEASES_EVERY)),
      keepRunning("Reading the leases of account writes"),
      Effect.forkScoped
    )
    const appending = append(bus, relay, chain).pipe(
      Effect.onError(() => Effect.sync(() => relay.begin())),
      keepTrying("Passing on account writes", { every: RETRY_EVERY })
    )
    return yield* Effect.flatMap(appending, Effect.fail)
  }).pipe(Effect.scoped)

/** A relay for this process's feed. It fills the bus while it leads. */
export const layer = (commitment: Commitment): Layer.Layer<never, never, AccountBus> =>
  Layer.effect(
    AccountRelay,
    Effect.gen(function* () {
      const bus = yield* AccountBus
      const random = yield* SecretSource
      const writes = new RelayedWrites(() => random(SESSION_BYTES).reduce((value, byte) => value * 256 + byte, 0))
      yield* (yield* Readings).report(
        { name: "fathom_relayed_accounts", help: "Accounts followed for other processes.", kind: "gauge" },
        () => writes.size
      )
      return { writes, lead: (genesis: string) => lead(bus, writes, chainName(genesis, commitment)) }
    })
  )
