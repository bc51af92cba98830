import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Redacted, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { hashSecret, makeSecret } from "../../src/access/keyFormat.ts"
import { HashRewrites, Peppers } from "../../src/access/keyPeppers.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import * as Readings from "../../src/operations/Readings.ts"
import { ChangeChannel } from "../../src/storage/ChangeChannel.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const request = { accountId: "local", name: "bot", scopes: ["md.read"] as const, ipPolicy: null }
const [OLD, NEW] = [Redacted.make("old pepper"), Redacted.make("new pepper")]
const old = { KEY_PEPPER: "old pepper" }
const changed = { KEY_PEPPER: "new pepper" }
const rotating = { KEY_PEPPER: "new pepper", KEY_PEPPER_BEFORE: "old pepper" }
/** Settings of every process before the first one writes under the new pepper. */
const prepared = { KEY_PEPPER: "old pepper", KEY_PEPPER_BEFORE: "new pepper" }

/** A key store in a process of its own, until the scope closes, which stores what waits to be stored. */
const open = (address: TestDatabase.TestAddress, settings: Record<string, string>) =>
  KeyStorePg.layer.pipe(
    Layer.provide(TestDatabase.connect(address)),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings))),
    Layer.build,
    Effect.map((context) => KeyStore.of(Context.get(context, KeyStore)))
  )

const use = (address: TestDatabase.TestAddress, settings: Record<string, string>, secret: Redacted.Redacted) =>
  Effect.scoped(Effect.flatMap(open(address, settings), (store) => store.authenticate(secret)))

const issue = (address: TestDatabase.TestAddress, settings: Record<string, string>) =>
  Effect.scoped(Effect.flatMap(open(address, settings), (store) => store.issue(request, COMMAND_LINE)))

/** The database itself, without the store. */
const behind = Effect.fnUntraced(function* (address: TestDatabase.TestAddress) {
  return Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
})

const hashesIn = (sql: SqlClient.SqlClient) =>
  Effect.map(sql`select secret_hash from api_keys order by seq`.values, (rows) => rows.map(([hash]) => String(hash)))

/** Repeats until there is a row, or the test runs out of time. */
const eventually = <A, E>(rows: Effect.Effect<ReadonlyArray<A>, E>) =>
  rows.pipe(
    Effect.filterOrFail((found) => found.length > 0),
    Effect.retry(Schedule.spaced("20 millis"))
  )

describe("peppers", () => {
  const secret = makeSecret("live", (size) => new Uint8Array(size).fill(3))

  it("hash under the present one, and list each hash under the others once", () => {
    const peppers = new Peppers(NEW, [OLD, NEW, OLD])
    assert.strictEqual(peppers.hash(secret), hashSecret(NEW, secret))
    assert.deepStrictEqual(peppers.earlierHashes(secret), [hashSecret(OLD, secret)])
    assert.deepStrictEqual(new Peppers(NEW, []).earlierHashes(secret), [])
  })

  it("have ids that differ and do not show them", () => {
    const [one, two] = [new Peppers(NEW, [OLD]), new Peppers(OLD, [])]
    assert.notStrictEqual(one.id, two.id)
    assert.deepStrictEqual(one.ids, [one.id, two.id])
    assert.match(one.id, /^[0-9a-f]{16}$/u)
  })
})

describe("hashes to be rewritten", () => {
  it("wait until they are written, at most a thousand at a time", () => {
    const rewrites = new HashRewrites()
    for (let i = 0; i < 1500; i++) {
      rewrites.add({ id: `key_${i}`, found: `old ${i}`, present: `new ${i}` })
    }
    const batch = rewrites.batch()
    assert.lengthOf(batch, 1000)
    // A failed write does not call `written`, so the same keys come again.
    assert.deepStrictEqual(rewrites.batch(), batch)
    rewrites.written(batch)
    assert.lengthOf(rewrites.batch(), 500)
    rewrites.written(rewrites.batch())
    assert.lengthOf(rewrites.batch(), 0)
  })
})

describe.runIf(TestDatabase.isAvailable)("rotation of the pepper", { concurrent: true }, () => {
  it.live("knows keys under both, and rewrites the hash of a key that is used", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* behind(address)
      const { key, secret } = yield* issue(address, old)
      const unused = yield* issue(address, old)
      assert.strictEqual((yield* Effect.flip(use(address, changed, secret)))._tag, "UnknownKey")
      assert.strictEqual((yield* use(address, rotating, secret)).id, key.id)
      assert.deepStrictEqual(yield* hashesIn(sql), [hashSecret(NEW, secret), hashSecret(OLD, unused.secret)])
      const fresh = yield* issue(address, rotating)
      assert.strictEqual((yield* use(address, changed, secret)).id, key.id)
      assert.strictEqual((yield* use(address, changed, fresh.secret)).id, fresh.key.id)
      assert.strictEqual((yield* Effect.flip(use(address, changed, unused.secret)))._tag, "UnknownKey")
    })
  )

  it.live("does not bring a revoked or disabled key back", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const [one, two] = [yield* issue(address, old), yield* issue(address, old)]
      const store = yield* open(address, rotating)
      yield* store.revoke(one.key.id, COMMAND_LINE)
      yield* store.disable(two.key.id, COMMAND_LINE)
      assert.strictEqual((yield* Effect.flip(store.authenticate(one.secret)))._tag, "UnknownKey")
      assert.strictEqual((yield* Effect.flip(store.authenticate(two.secret)))._tag, "DisabledKey")
    })
  )

  it.live("rewrites a hash once when two processes find it at the same time", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* behind(address)
      const issued = yield* Effect.forEach([1, 2, 3], () => issue(address, old))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const stores = [yield* open(address, rotating), yield* open(address, rotating)]
          yield* Effect.forEach(stores, (store) => Effect.forEach(issued, ({ secret }) => store.authenticate(secret)), {
            concurrency: "unbounded"
          })
        })
      )
      assert.deepStrictEqual(
        yield* hashesIn(sql),
        issued.map(({ secret }) => hashSecret(NEW, secret))
      )
    })
  )

  it.live("admits a key in processes that hash under different peppers, in either order", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const { key, secret } = yield* issue(address, old)
      for (const settings of [prepared, rotating, prepared, rotating]) {
        assert.strictEqual((yield* use(address, settings, secret)).id, key.id)
      }
      assert.strictEqual((yield* use(address, changed, secret)).id, key.id)
    })
  )

  it.live("announces a rewritten hash, so that processes with another pepper look the key up again", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const { key, secret } = yield* issue(address, old)
      const channel = Context.get(yield* Layer.build(TestDatabase.connect(address)), ChangeChannel)
      const signals = yield* Stream.toPull(channel.changes("keys"))
      assert.deepStrictEqual(yield* signals, [{ _tag: "Missed" }])
      yield* use(address, rotating, secret)
      assert.deepStrictEqual(yield* signals, [{ _tag: "Changed", subject: `open ${key.id}`, isOwn: false }])
    })
  )

  it.live("rewrites every hash that waits at once, however many", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* behind(address)
      const { key } = yield* issue(address, old)
      const secrets = Array.from({ length: 1200 }, (_, at) =>
        makeSecret("live", (size) => new Uint8Array(size).fill(at % 61, 0, 8).fill(Math.floor(at / 61), 8))
      )
      yield* sql`
        insert into api_keys (id, account_id, name, prefix, last_four, scopes, secret_hash, pepper_id, created_at)
        select 'key_' || place, account_id, api_keys.name, prefix, last_four, scopes, hash, pepper_id, created_at
        from api_keys, unnest(${secrets.map((secret) => hashSecret(OLD, secret))}::text[]) with ordinality as added (hash, place)
        where id = ${key.id}
      `
      yield* Effect.scoped(
        Effect.flatMap(open(address, rotating), (store) =>
          Effect.forEach(secrets, (secret) => store.authenticate(secret), { concurrency: "unbounded" })
        )
      )
      const expected = new Set(secrets.map((secret) => hashSecret(NEW, secret)))
      assert.strictEqual((yield* hashesIn(sql)).filter((hash) => expected.has(hash)).length, secrets.length)
    })
  )

  it.live("admits the key while its hash cannot be written, and writes it later", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* behind(address)
      const { key, secret } = yield* issue(address, old)
      // A sequence keeps its value when the statement is rolled back.
      yield* sql`create sequence tries`
      yield* sql`
        create function fail() returns trigger language plpgsql as $$
        begin perform nextval('tries'); raise 'no space left'; end $$
      `
      yield* sql`
        create trigger full_disk before update of secret_hash on api_keys for each row execute function fail()
      `
      const store = yield* open(address, rotating)
      assert.strictEqual((yield* store.authenticate(secret)).id, key.id)
      yield* eventually(sql`select 1 from tries where is_called`.values)
      // Another process checks: a look-up in this one would note the key again.
      assert.strictEqual((yield* use(address, rotating, secret)).id, key.id)
      assert.deepStrictEqual(yield* hashesIn(sql), [hashSecret(OLD, secret)])
      yield* sql`drop trigger full_disk on api_keys`
      yield* eventually(
        Effect.map(hashesIn(sql), (hashes) => hashes.filter((hash) => hash === hashSecret(NEW, secret)))
      )
      assert.strictEqual((yield* store.authenticate(secret)).id, key.id)
    })
  )

  it.live("moves from the pepper that the database keeps to KEY_PEPPER", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* behind(address)
      const { key, secret } = yield* issue(address, {})
      assert.strictEqual((yield* use(address, changed, secret)).id, key.id)
      assert.deepStrictEqual(yield* hashesIn(sql), [hashSecret(NEW, secret)])
    })
  )

  it.live("counts the usable keys that are not under the present pepper, and no others", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const sql = yield* behind(address)
      const [one, two, gone, before] = yield* Effect.forEach([1, 2, 3, 4], () => issue(address, old))
      // Issued by a version that did not store the pepper's id.
      yield* sql`update api_keys set pepper_id = null where id = ${before?.key.id ?? ""}`
      const counted = Effect.scoped(
        Effect.gen(function* () {
          const { collect } = yield* Readings.Readings
          yield* open(address, rotating)
          const count = Effect.sync(() => {
            const family = collect(0).find(({ name }) => name === "fathom_keys_of_earlier_pepper")
            return family?.samples[0]?.value
          })
          return yield* count.pipe(
            Effect.filterOrFail((value) => value !== undefined),
            Effect.retry(Schedule.spaced("5 millis"))
          )
        })
      ).pipe(Effect.provide(Readings.layer))
      yield* Effect.scoped(
        Effect.flatMap(open(address, old), (store) => store.revoke(gone?.key.id ?? "", COMMAND_LINE))
      )
      assert.strictEqual(yield* counted, 3)
      for (const [at, issued] of [one, two, before].entries()) {
        yield* use(address, rotating, issued?.secret ?? Redacted.make(""))
        assert.strictEqual(yield* counted, 2 - at)
      }
    })
  )
})
