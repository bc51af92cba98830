/** The bus of blocks as a stream of Valkey, or Redis 7. Loaded where several processes divide the roles of a service. */
import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { Clock, Duration, Effect, Exit, Layer, Option, References, Schedule, Scope, Semaphore, Stream } from "effect"
import { within } from "../deadline.ts"
import {
  AppendRefused,
  BLOCKS_KEPT,
  BlockBus,
  type BusBlock,
  type BusEntry,
  BusUnavailable,
  entriesFrom
} from "../bus/BlockBus.ts"

/** Limit of one command. A reader is answered within `BLOCK_MS`, with no block where none comes. */
const COMMAND_TIMEOUT = Duration.seconds(3)
const BLOCK_MS = 1000
const CONNECT_TIMEOUT_MS = 2000
const RETRY_EVERY = Duration.millis(250)
/** Blocks read at a time. */
const PAGE = 16
/** Type of a reply that holds bytes, in the protocol. */
const BLOB = 36

/**
 * Appends a block. The set holds the slots of the stream and the times at which they came, by the clock of the server. At most
 * 16 old blocks are removed with each new one. Both keys go once no block has come for the time that blocks are kept.
 */
const APPEND_LUA = `
local stream, slots = KEYS[1], KEYS[2]
local after, slot, kept = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local newest = redis.call('ZREVRANGE', slots, 0, 0)[1]
if newest then
  newest = tonumber(string.match(newest, '^%d+'))
  if newest > after then return newest end
end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('XADD', stream, ARGV[2] .. '-0', 'a', ARGV[1], 'b', ARGV[4])
redis.call('ZADD', slots, slot, ARGV[2] .. ':' .. string.format('%.0f', now))
local oldest, old = redis.call('ZRANGE', slots, 0, 16), 0
for i = 1, #oldest - 1 do
  if tonumber(string.match(oldest[i], '%d+$')) >= now - kept then break end
  old = i
end
if old > 0 then
  redis.call('ZREMRANGEBYRANK', slots, 0, old - 1)
  redis.call('XTRIM', stream, 'MINID', string.match(oldest[old + 1], '^%d+') .. '-0')
end
if kept > 0 then
  redis.call('PEXPIRE', stream, kept)
  redis.call('PEXPIRE', slots, kept)
end
return -1`

const streamOf = (chain: string) => `fathom:{blocks:${chain}}`
const slotsOf = (chain: string) => `fathom:{blocks:${chain}}:slots`

type Client = NodeRedis.NodeRedis["Service"]["client"]

const unavailable = (cause: unknown) => new BusUnavailable({ cause })

/** A connected client that does not connect again by itself: what it was sent fails with it. */
const open = (url: string) =>
  Effect.map(
    Layer.build(
      NodeRedis.layer({
        url,
        RESP: 2,
        disableOfflineQueue: true,
        socket: {
          connectTimeout: CONNECT_TIMEOUT_MS,
          socketTimeout: Duration.toMillis(COMMAND_TIMEOUT),
          reconnectStrategy: false
        }
      })
    ).pipe(
      Effect.flatMap((context) => Effect.provide(Effect.service(NodeRedis.NodeRedis), context)),
      Effect.provideService(References.MinimumLogLevel, "Error"),
      Effect.mapError(({ cause }) => unavailable(cause))
    ),
    ({ client }) => client
  )

/** A connection that is made when it is first used, and anew after any failure. */
const makeConnection = Effect.fnUntraced(function* (url: string) {
  const opening = yield* Semaphore.make(1)
  let held: { readonly client: Client; readonly scope: Scope.Closeable } | null = null

  const drop = Effect.suspend(() => {
    const gone = held
    held = null
    if (gone === null) {
      return Effect.void
    }
    // A client that is closed waits for the answers to its commands; one that is destroyed abandons them.
    return Effect.andThen(
      Effect.ignoreCause(Effect.sync(() => gone.client.destroy())),
      Effect.ignoreCause(Scope.close(gone.scope, Exit.void))
    )
  })
  yield* Effect.addFinalizer(() => drop)

  const client = Effect.suspend(() => {
    if (held !== null) {
      return Effect.succeed(held.client)
    }
    return Effect.gen(function* () {
      const scope = yield* Scope.make()
      const opened = yield* within(
        COMMAND_TIMEOUT,
        unavailable
      )(Scope.provide(open(url), scope)).pipe(Effect.onError(() => Effect.ignoreCause(Scope.close(scope, Exit.void))))
      held = { client: opened, scope }
      return opened
    })
  }).pipe(opening.withPermit)

  /** The reply to a command, with bytes as such. */
  return (...command: ReadonlyArray<string | Buffer>): Effect.Effect<unknown, BusUnavailable> =>
    Effect.flatMap(client, (open) =>
      within(
        COMMAND_TIMEOUT,
        unavailable
      )(
        Effect.tryPromise({
          try: () => open.sendCommand([...command], { typeMapping: { [BLOB]: Buffer } }) as Promise<unknown>,
          catch: unavailable
        })
      )
    ).pipe(Effect.tapError(() => drop))
})

type Reply = ReadonlyArray<
  readonly [stream: Buffer, entries: ReadonlyArray<readonly [id: Buffer, fields: ReadonlyArray<Buffer>]>]
>

/** The blocks of a reply to `XREAD`; none when it timed out. */
const blocksOf = (reply: unknown): ReadonlyArray<BusBlock> =>
  ((reply as Reply | null)?.[0]?.[1] ?? []).map(([id, fields]) => ({
    slot: Number(id.toString("latin1").split("-")[0]),
    after: Number(fields[1]?.toString("latin1")),
    bytes: fields[3] ?? Buffer.alloc(0)
  }))

const make = Effect.fnUntraced(function* (url: string, keptMs: number) {
  const clock = yield* Clock.Clock
  const send = yield* makeConnection(url)
  const state: { heardAtMs: number | null; isReported: boolean } = { heardAtMs: null, isReported: false }

  const heard = <A>(answer: A): A => {
    state.heardAtMs = clock.currentTimeMillisUnsafe()
    return answer
  }
  const reportLoss = ({ cause }: BusUnavailable) =>
    Effect.suspend(() => {
      const isFirst = !state.isReported
      state.isReported = true
      return isFirst ? Effect.logWarning("The bus of blocks cannot be reached", cause) : Effect.void
    })
  const reportReturn = Effect.suspend(() => {
    const wasReported = state.isReported
    state.isReported = false
    return wasReported ? Effect.logInfo("The bus of blocks can be reached again") : Effect.void
  })

  const newest = Effect.fnUntraced(function* (chain: string) {
    const reply = heard(yield* send("ZREVRANGE", slotsOf(chain), "0", "0"))
    const [member] = reply as ReadonlyArray<Buffer>
    return member === undefined ? null : Number(member.toString("latin1").split(":")[0])
  })

  const append = Effect.fnUntraced(function* (chain: string, { after, bytes, slot }: BusBlock) {
    const keys = [streamOf(chain), slotsOf(chain)]
    const block = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const answer = Number(
      heard(yield* send("EVAL", APPEND_LUA, "2", ...keys, `${after}`, `${slot}`, `${keptMs}`, block))
    )
    if (answer !== -1) {
      return yield* new AppendRefused({ newest: answer })
    }
  })

  const follow = (chain: string, after: number): Stream.Stream<BusEntry> =>
    Stream.unwrap(
      Effect.map(makeConnection(url), (read) =>
        Stream.paginate(after, (position) =>
          read("XREAD", "COUNT", `${PAGE}`, "BLOCK", `${BLOCK_MS}`, "STREAMS", streamOf(chain), `${position}-0`).pipe(
            Effect.tapError(reportLoss),
            // A read is repeated, whatever became of it: it changes nothing.
            Effect.retry(Schedule.spaced(RETRY_EVERY)),
            Effect.orDie,
            Effect.tap(reportReturn),
            Effect.map((reply) => {
              const [last, entries] = entriesFrom(position, blocksOf(heard(reply)))
              return [entries, Option.some(last)] as const
            })
          )
        )
      )
    )

  return BlockBus.of({ newest, append, follow, heardAtMs: () => state.heardAtMs })
})

/** The bus on the server at this address. Building it does not wait for the server. */
export const layer = (url: string, kept: Duration.Duration = BLOCKS_KEPT): Layer.Layer<BlockBus> =>
  Layer.effect(BlockBus, make(url, Duration.toMillis(kept)))
