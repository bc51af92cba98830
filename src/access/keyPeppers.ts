/** The pepper of key hashes, the other peppers whose hashes still count, and the rewriting of those hashes. */
import { Config, Duration, Effect, Option, Redacted, Schedule, type Scope } from "effect"
import type { ApiKey } from "../api/schemas/ApiKey.ts"
import type { RandomBytes } from "../domain/randomText.ts"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"
import { Readings } from "../operations/Readings.ts"
import { CleansUp } from "../storage/purge.ts"
import { hashSecret, makePepper } from "./keyFormat.ts"
import type { HashedKey, HashRewrite, KeyTable } from "./keyTable.ts"

/** Name of the pepper that the database keeps when KEY_PEPPER is not set. */
const STORED = "key_pepper"
/** Hashes that one statement rewrites. */
const BATCH_SIZE = 1000
const COUNT_EVERY = Duration.minutes(1)
const ID_LENGTH = 16

/** Settings of the pepper. Without the pepper, nobody can match a stored hash with a secret. */
export const pepperSettings = Config.all({
  /**
   * The pepper of new hashes. When it is missing, the database keeps a random one, so that all processes use the same.
   */
  present: Config.option(Config.Redacted("KEY_PEPPER")),
  /** Another pepper. Keys with a hash under it are known too. */
  before: Config.option(Config.Redacted("KEY_PEPPER_BEFORE"))
})

// Id of a pepper: the hash of a text that is not a key, so no key has this hash.
const idOf = (pepper: Redacted.Redacted): string => hashSecret(pepper, Redacted.make("pepper")).slice(0, ID_LENGTH)

/** The pepper for new hashes, and the others by which a key may be found. */
export class Peppers {
  readonly #present: Redacted.Redacted
  readonly #earlier: ReadonlyArray<Redacted.Redacted>
  /** Id of the pepper for new hashes: the first 64 bits of an HMAC under it. */
  readonly id: string
  /** Ids of all peppers, the present one first. */
  readonly ids: ReadonlyArray<string>

  /** A pepper that is given twice counts once. */
  constructor(present: Redacted.Redacted, others: ReadonlyArray<Redacted.Redacted>) {
    const byId = new Map([present, ...others].toReversed().map((pepper) => [idOf(pepper), pepper]))
    this.#present = present
    this.id = idOf(present)
    byId.delete(this.id)
    this.#earlier = Array.from(byId.values())
    this.ids = [this.id, ...byId.keys()]
  }

  /** Hash of the secret under the present pepper. */
  hash(secret: Redacted.Redacted): string {
    return hashSecret(this.#present, secret)
  }

  /** Hashes of the secret under the other peppers. */
  earlierHashes(secret: Redacted.Redacted): ReadonlyArray<string> {
    return this.#earlier.map((pepper) => hashSecret(pepper, secret))
  }
}

/** Keys whose stored hash may be under another pepper, until their hash under the present pepper is stored. */
export class HashRewrites {
  readonly #waiting = new Map<string, HashRewrite>()

  /** Adds a key. A later call for the same key replaces this one. */
  add(rewrite: HashRewrite): void {
    this.#waiting.set(rewrite.id, rewrite)
  }

  /** The oldest waiting rewrites, at most 1000. */
  batch(): ReadonlyArray<HashRewrite> {
    return this.#waiting.values().take(BATCH_SIZE).toArray()
  }

  /** Removes rewrites that have been stored, unless the key was added again. */
  written(batch: ReadonlyArray<HashRewrite>): void {
    for (const rewrite of batch) {
      if (this.#waiting.get(rewrite.id) === rewrite) {
        this.#waiting.delete(rewrite.id)
      }
    }
  }

  /** Returns found keys by the hash that was asked for. `earlier` maps a hash under another pepper to that hash. */
  resolve(
    found: ReadonlyArray<HashedKey>,
    earlier: ReadonlyMap<string, string>,
    pepperId: string
  ): ReadonlyMap<string, ApiKey> {
    const keys = new Map<string, ApiKey>()
    for (const row of found) {
      const present = earlier.get(row.hash) ?? row.hash
      if (present !== row.hash || row.pepperId !== pepperId) {
        this.add({ id: row.key.id, found: row.hash, present })
      }
      keys.set(present, row.key)
    }
    return keys
  }
}

/**
 * Reads the peppers from the settings. If KEY_PEPPER is set and the database has a pepper from before that, keys under
 * the stored pepper are known too.
 */
export const readPeppers = Effect.fnUntraced(function* (
  table: KeyTable,
  random: RandomBytes,
  { before, present }: Config.Success<typeof pepperSettings>
) {
  const others = Option.toArray(before)
  if (Option.isNone(present)) {
    return new Peppers(yield* table.secret(STORED, makePepper(random)), others)
  }
  const stored = yield* table.storedSecret(STORED)
  return new Peppers(present.value, stored === null ? others : [...others, stored])
})

/**
 * Counts the usable keys whose hash is not known to be under the present pepper: at the start, and every minute while
 * there is another pepper. The number is a metric and in the log, so that an operator sees when the other pepper can be
 * removed.
 */
export const countEarlierKeys = Effect.fnUntraced(function* <E>(
  peppers: Peppers,
  count: Effect.Effect<{ readonly earlier: number; readonly unusable: number }, E>
): Effect.fn.Return<void, never, Scope.Scope> {
  // Commands that run beside a service leave this to the service.
  if (!(yield* CleansUp)) {
    return
  }
  const isRotating = peppers.ids.length > 1
  let last: number | null = null
  if (isRotating) {
    yield* (yield* Readings).report(
      {
        name: "fathom_keys_of_earlier_pepper",
        help: "Keys, neither revoked nor expired, whose hash is not known to be under the present pepper, while another is known.",
        kind: "gauge"
      },
      () => last
    )
  }
  let isFirst = true
  const turn = Effect.gen(function* () {
    const { earlier, unusable } = yield* count
    if (isFirst && unusable > 0) {
      yield* Effect.logWarning(
        "Keys are unknown, because the pepper of their hashes is not set: set it as KEY_PEPPER_BEFORE",
        { keys: unusable }
      )
    }
    if (isRotating && (isFirst || (earlier === 0) !== (last === 0))) {
      yield* Effect.logInfo("Keys whose hash is not known to be under the present pepper", { keys: earlier })
    }
    isFirst = false
    last = earlier
  }).pipe(
    Effect.onError(() => Effect.sync(() => (last = null))),
    keepGoing("Counting keys of earlier peppers")
  )
  yield* (isRotating ? Effect.repeat(turn, Schedule.spaced(COUNT_EVERY)) : turn).pipe(
    keepRunning("Counting keys of earlier peppers"),
    Effect.forkScoped
  )
})
