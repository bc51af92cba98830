/** Limits of callers that all processes of a service count together, in Valkey. */
import { type Config, Context, Effect, Layer, Schedule } from "effect"
import { Redis } from "effect/persistence"
import { LimiterUnavailable } from "../api/schemas/Budget.ts"
import { randomBase62, SecretSource } from "../domain/randomText.ts"
import { keepRunning } from "../operations/keepRunning.ts"
import { sharedLogs } from "../storage/valkey/SharedLogs.ts"
import { inTime, Valkey, type ValkeyUnavailable, whenDown } from "../storage/valkey/Valkey.ts"
import { CallerLimits, HeldPlaces, nameOf, NoPlace, type PlaceRequest, TooOften } from "./CallerLimits.ts"

/** A place is free when its process has not renewed it for this long. */
const LEASE_MS = 15_000
const RENEW_EVERY_MS = 5000

/** Places are members of a sorted set. The score is the time at which the lease ends. */
const takeScript = Redis.script((places: string, place: string, limit: number) => [places, place, limit, LEASE_MS], {
  numberOfKeys: 1,
  lua: `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`
}).withReturnType<number>()

/** Renews places, even those whose lease has ended. */
const renewScript = Redis.script((places: string, held: ReadonlyArray<string>) => [places, LEASE_MS, ...held], {
  numberOfKeys: 1,
  lua: `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])`
})

const share = (limit: number, processes: number): number => Math.min(limit, Math.max(1, Math.floor(limit / processes)))

const keyOf = (name: string): string => `fathom:${name}:places`

const unavailable = ({ cause }: ValkeyUnavailable) => Effect.fail(new LimiterUnavailable({ cause }))

/** Takes places and renews them while they are held. The places of a killed process become free after 15 s. */
const makePlaces = Effect.fnUntraced(function* (isLocal: boolean) {
  const valkey = yield* Valkey
  const self = randomBase62(16, yield* SecretSource)
  const held = new HeldPlaces()
  const memberOf = (place: string) => `${self}:${place}`

  const renew = Effect.suspend(() =>
    Effect.forEach(
      Array.from(held.all, ([name, places]) => [keyOf(name), Array.from(places, memberOf)] as const),
      ([key, members]) => Effect.ignore(inTime(valkey, valkey.eval(renewScript)(key, members))),
      { discard: true, concurrency: 16 }
    )
  )
  yield* Effect.repeat(renew, Schedule.spaced(RENEW_EVERY_MS)).pipe(
    keepRunning("Renewing shared places"),
    Effect.forkScoped({ startImmediately: true })
  )

  const remove = (request: PlaceRequest, place: string) =>
    inTime(valkey, valkey.send("ZREM", keyOf(nameOf(request)), memberOf(place)))

  const release = (request: PlaceRequest, place: string) =>
    Effect.suspend(() => {
      held.remove(request, place)
      return Effect.ignore(remove(request, place))
    })

  const acquire = (request: PlaceRequest) =>
    Effect.suspend(() => {
      const before = held.count(request)
      const place = held.add(request)
      const taken = valkey.eval(takeScript)(keyOf(nameOf(request)), memberOf(place), request.limit)
      const undo = (isTaken: number) =>
        isTaken === 1 && held.all.get(nameOf(request))?.has(place) !== true ? remove(request, place) : Effect.void
      return inTime(valkey, taken, undo).pipe(
        Effect.flatMap((isTaken) => (isTaken === 1 ? Effect.succeed(place) : Effect.fail(new NoPlace()))),
        Effect.catchTag("ValkeyUnavailable", (error): Effect.Effect<string, NoPlace | LimiterUnavailable> => {
          if (!isLocal) {
            return unavailable(error)
          }
          return before < share(request.limit, valkey.processes()) ? Effect.succeed(place) : Effect.fail(new NoPlace())
        }),
        Effect.onError(() => Effect.sync(() => held.remove(request, place)))
      )
    })

  return (request: PlaceRequest) =>
    Effect.asVoid(Effect.acquireRelease(acquire(request), (place) => release(request, place)))
})

/**
 * Limits that all processes count together. While Valkey is away, `BUDGET_STORE_DOWN` decides: `local` admits up to an
 * equal share of each limit in this process, `refuse` fails with `LimiterUnavailable`. Places that are taken meanwhile
 * are counted once Valkey is back.
 */
export const layer: Layer.Layer<CallerLimits, Config.ConfigError, Valkey> = Layer.effect(
  CallerLimits,
  Effect.gen(function* () {
    const valkey = yield* Valkey
    const logs = yield* sharedLogs
    const local = Context.get(yield* Layer.build(CallerLimits.layerMemory), CallerLimits)
    const isLocal = (yield* whenDown) === "local"
    const take = yield* makePlaces(isLocal)

    return CallerLimits.of({
      take,
      count: (request) =>
        logs.admit([{ log: `fathom:${nameOf(request)}:starts`, ...request, cost: 1 }]).pipe(
          Effect.flatMap(({ isAdmitted, states: [state] }) =>
            isAdmitted ? Effect.void : Effect.fail(new TooOften({ retryAfterMs: state?.fitsInMs ?? 0 }))
          ),
          Effect.catchTag("ValkeyUnavailable", (error) =>
            isLocal ? local.count({ ...request, limit: share(request.limit, valkey.processes()) }) : unavailable(error)
          )
        )
    })
  })
)
