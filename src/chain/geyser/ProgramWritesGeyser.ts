import { Clock, type Config, Effect, Layer } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { ProgramQuery } from "../ChainFeed.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { rpcSettings } from "../rpc/rpcSettings.ts"
import type { GeyserAccountFeedOptions } from "./ChainFeedGeyser.ts"
import { geyserCommitment } from "./geyserCommitment.ts"
import { geyserEndpoints, targetAt } from "./geyserSettings.ts"
import { AccountThread } from "./AccountThread.ts"
import type { StreamEnd } from "./geyserMessages.ts"
import type { GeyserAccountFilter } from "./geyserUpdates.ts"
import { type ProgramListener, ProgramWrites, ReplayUnavailable, STREAM_SILENCE_MS } from "./ProgramWrites.ts"
import type { StreamUpdate } from "./readUpdate.ts"

/** How often to check whether the stream is silent. */
const LOOK_EVERY = "1 second"

const filterOf = ({ dataSize, matches, programId }: ProgramQuery): GeyserAccountFilter => ({
  account: [],
  owner: [programId],
  filters: [
    ...(dataSize === undefined ? [] : [{ datasize: String(dataSize) }]),
    ...matches.map(({ bytes, offset }) => ({ memcmp: { offset: String(offset), bytes } }))
  ]
})

const take = (
  { account, filters, slot }: StreamUpdate,
  places: ReadonlyMap<string, number>,
  commitment: number,
  listener: ProgramListener
): void => {
  if (account?.pubkey.length === 32) {
    for (const name of filters) {
      const query = places.get(name)
      if (query !== undefined) {
        const { data, lamports, pubkey } = account
        listener.onWrite({ query, slot: account.slot, address: pubkey, lamports, data })
      }
    }
  } else if (slot?.status === commitment) {
    listener.onSlot(slot.slot)
  }
}

/** Wraps a listener so that it notes new slots. `silent` returns once none has come for STREAM_SILENCE_MS. */
const watched = (listener: ProgramListener, clock: Clock.Clock) => {
  const nowMs = () => monotonicMs(clock)
  let newest = 0
  let heardAtMs = nowMs()
  const silent = Effect.sync(() => nowMs() - heardAtMs > STREAM_SILENCE_MS).pipe(
    Effect.delay(LOOK_EVERY),
    Effect.repeat({ until: (isSilent) => isSilent }),
    Effect.as({ reason: "silence" as const, detail: `no slot for ${STREAM_SILENCE_MS} ms` })
  )
  const onSlot = (slot: number) => {
    if (slot > newest) {
      newest = slot
      heardAtMs = nowMs()
    }
    listener.onSlot(slot)
  }
  return { listener: { ...listener, onSlot }, silent }
}

const make = Effect.fnUntraced(function* ({ geyser, ...options }: GeyserAccountFeedOptions) {
  const endpoints = yield* geyserEndpoints(geyser)
  const commitment = geyserCommitment((yield* rpcSettings(options)).commitment)
  const thread = yield* AccountThread
  let place = 0

  const follow = Effect.fnUntraced(function* (
    queries: ReadonlyArray<ProgramQuery>,
    from: number | null,
    listener: ProgramListener
  ) {
    const target = targetAt(endpoints, place)
    const places = new Map(queries.map((_, index) => [`p${index}`, index]))
    const accounts = Object.fromEntries(queries.map((query, index) => [`p${index}`, filterOf(query)]))
    const { listener: noting, silent } = watched(listener, yield* Clock.Clock)
    const onUpdate = (update: StreamUpdate) => take(update, places, commitment, noting)
    const request = {
      accounts,
      slots: { slots: { filterByCommitment: true } },
      commitment,
      ...(from !== null && { fromSlot: String(from) })
    }
    const streamed = Effect.callback<StreamEnd>((resume) => {
      const stream = thread.open(target, from, { onUpdate, onEnd: (end) => resume(Effect.succeed(end)) })
      stream.send({ _tag: "request", request })
      return Effect.sync(stream.close)
    })
    const { detail, reason } = yield* Effect.raceFirst(streamed, silent)
    if (reason === "range") {
      return yield* new ReplayUnavailable({ detail })
    }
    place += 1
    return yield* new ChainUnavailable({
      reason: reason === "silence" ? "timeout" : "unreachable",
      detail: `${target.host}: the stream of pools ended: ${detail}`,
      ...(reason === "refused" && { isRefused: true })
    })
  })

  return { follow }
})

/**
 * The program writes that Geyser endpoints stream, one endpoint at a time. The endpoints come from the options or from
 * `GEYSER_URL`. At `confirmed`, or `finalized` where `SOLANA_COMMITMENT` is.
 */
export const layer = (options: GeyserAccountFeedOptions = {}): Layer.Layer<never, Config.ConfigError> =>
  Layer.effect(ProgramWrites, make(options)).pipe(Layer.provide(AccountThread.layer))
