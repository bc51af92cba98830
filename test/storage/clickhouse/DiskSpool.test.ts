import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type DiskSpool, openSpool } from "../../../src/storage/clickhouse/DiskSpool.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-spool-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** An entry with this many bytes on disk. */
const entry = (value: number, size = 100) => ({
  head: Uint8Array.of(value, value + 100),
  body: new Uint8Array(size - 6).fill(value)
})

const valuesOf = ({ body, head, listed }: DiskSpool) =>
  Effect.forEach(listed(), ({ afterLoss, id }) =>
    Effect.map(Effect.all([head(id), body(id)]), ([first, rest]) => {
      assert.deepStrictEqual(Array.from(first), [rest[0] ?? 0, (rest[0] ?? 0) + 100])
      return [rest[0], afterLoss]
    })
  )

describe("a spool on disk", () => {
  it.effect("returns entries in order, even to the next process", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const scope = yield* Scope.make()
      const before = yield* Scope.provide(openSpool(path, 1000), scope)
      assert.isEmpty(before.listed())
      for (const value of [1, 2, 3]) {
        yield* before.add(entry(value))
      }
      const taken = yield* Effect.flip(Effect.scoped(openSpool(path, 1000)))
      assert.include(taken.message, `process ${process.pid} uses it`)
      yield* before.remove(before.listed()[0]?.id ?? 0)
      yield* Scope.close(scope, Exit.void)
      // What is left of a write that was cut off.
      writeFileSync(join(path, "4.part"), "half")
      const after = yield* openSpool(path, 1000)
      yield* after.add(entry(4))
      assert.deepStrictEqual(yield* valuesOf(after), [
        [2, false],
        [3, false],
        [4, false]
      ])
      assert.deepStrictEqual([after.count(), after.bytes()], [3, 300])
      assert.isEmpty(readdirSync(path).filter((name) => name.endsWith(".part")))
    }).pipe(Effect.scoped)
  )

  it.effect("drops the oldest entries for room and marks the entry after them, even across a restart", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const scope = yield* Scope.make()
      const before = yield* Scope.provide(openSpool(path, 250), scope)
      yield* before.add(entry(1))
      yield* before.add(entry(2))
      const { dropped } = yield* before.add(entry(3))
      assert.deepStrictEqual(
        dropped.map(({ id }) => id),
        [1]
      )
      yield* Scope.close(scope, Exit.void)
      const after = yield* openSpool(path, 250)
      assert.deepStrictEqual(yield* valuesOf(after), [
        [2, true],
        [3, false]
      ])
      yield* after.add(entry(4, 240))
      assert.deepStrictEqual(yield* valuesOf(after), [[4, true]])
      const refused = yield* Effect.flip(after.add(entry(5, 300)))
      assert.include(refused.message, "exceeds the bound")
      assert.deepStrictEqual(yield* valuesOf(after), [[4, true]])
    }).pipe(Effect.scoped)
  )
})
