/** The work of the process that fills the bus of account writes. */
import { Effect, Layer, Schedule } from "effect"
import { SecretSource } from "../../domain/randomText.ts"
import { keepRunning } from "../../health/keepRunning.ts"
import { Readings } from "../../health/Readings.ts"
import { AccountBus } from "../../storage/bus/AccountBus.ts"
import { AppendRefused, type BusUnavailable } from "../../storage/bus/busLog.ts"
import type { Commitment } from "../Commitment.ts"
import { AccountRelay, RelayedWrites } from "./AccountRelay.ts"
import { encodeMessage } from "./accountMessage.ts"

/** The pause between two looks at the leases. */
const LEASES_EVERY = "100 millis"
const RETRY_EVERY = "250 millis"
/** A message follows the one before within this time. */
const BEAT_EVERY = "1 second"
/** Places of one slot: messages of a slot are appended one after the other, and those of a later slot have later places. */
const PLACES = 64
const SESSION_BYTES = 6

/** The slot of the message at a place, where a slot has no more than PLACES of them; else that one or a later one. */
export const slotOfPlace = (place: number): number => Math.floor(place / PLACES)

/** Name of the writes of a chain at a commitment. */
export const chainName = (genesis: string, commitment: Commitment): string => `${genesis}:${commitment}`

/** Appends the messages of the relay until another process has appended. */
const append = Effect.fnUntraced(function* (
  bus: AccountBus["Service"],
  relay: RelayedWrites,
  chain: string
): Effect.fn.Return<AppendRefused, BusUnavailable> {
  let last = (yield* bus.newest(chain)) ?? 0
  let tried = last
  /** Goes on with what the bus has, after a failure that may have come after the entry. */
  const recover = Effect.fnUntraced(function* () {
    relay.begin()
    const newest = (yield* Effect.retry(bus.newest(chain), Schedule.spaced(RETRY_EVERY))) ?? 0
    if (newest > last && newest !== tried) {
      return yield* new AppendRefused({ newest })
    }
    last = tried
  })
  const appendAll = Effect.gen(function* () {
    for (const message of relay.takeAll()) {
      tried = Math.max(last + 1, message.slot * PLACES)
      const bytes = encodeMessage(message, relay.bytesOf)
      yield* bus.append(chain, { after: last, place: tried, bytes })
      last = tried
    }
  })
  const step = Effect.gen(function* () {
    const beat = Effect.sync(() => relay.beat())
    yield* Effect.timeoutOrElse(relay.arrived.await, { duration: BEAT_EVERY, orElse: () => beat })
    relay.arrived.closeUnsafe()
    yield* Effect.catchTag(appendAll, "BusUnavailable", recover)
  })
  return yield* Effect.flip(Effect.forever(step)).pipe(
    Effect.flatMap((failure) => (failure._tag === "AppendRefused" ? Effect.succeed(failure) : Effect.fail(failure)))
  )
})

/** Fills the bus until it is interrupted, or fails once another process has appended. */
const lead = (bus: AccountBus["Service"], relay: RelayedWrites, chain: string): Effect.Effect<never, AppendRefused> =>
  Effect.gen(function* () {
    yield* Effect.acquireRelease(
      Effect.sync(() => relay.lead()),
      () => Effect.sync(() => relay.resign())
    )
    const readLeases = Effect.suspend(() => bus.leases(chain, relay.known())).pipe(
      Effect.map((listed) => relay.list(listed)),
      // The known accounts go on to be followed.
      Effect.catchTag("BusUnavailable", () => Effect.void)
    )
    yield* readLeases.pipe(
      Effect.repeat(Schedule.spaced(LEASES_EVERY)),
      keepRunning("Reading the leases of account writes"),
      Effect.forkScoped
    )
    const appending = append(bus, relay, chain).pipe(
      Effect.retry(Schedule.spaced(RETRY_EVERY)),
      Effect.onError(() => Effect.sync(() => relay.begin())),
      keepRunning("Passing on account writes")
    )
    return yield* Effect.flatMap(appending, Effect.fail)
  }).pipe(Effect.scoped)

/** A relay for the feed of this process that fills the bus while it leads. */
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
