/** Quotes over HTTP against real swaps: how pools share chains, and what happens without programs. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { HttpTally } from "../../scripts/proveHttp/tally.ts"
import { worldsOf } from "../../scripts/proveHttp/worlds.ts"
import { makeAccount } from "../../src/quotes/execution/makeAccount.ts"
import { venues } from "../../src/quotes/execution/swapVenues.ts"
import { SOL } from "../../src/domain/Address.ts"
import { plainMint } from "../../src/programs/layout/tokenAccount.ts"
import { at } from "../programs/stateAccounts.ts"

const script = fileURLToPath(new URL("../../scripts/proveHttp.ts", import.meta.url))
const binaries = process.env["PROVE_PROGRAMS"] ?? ""
const has = binaries !== "" && existsSync(binaries) && readdirSync(binaries).some((name) => name.endsWith(".so"))

const run = (...options: ReadonlyArray<string>) => {
  const { PROVE_PROGRAMS: _, ...env } = process.env
  return spawnSync(process.execPath, [script, ...options], { encoding: "utf8", env })
}

const [venue = assert.fail("no venue")] = venues

/** A pool with one more account of this byte at the same address in every pool, and its own supply of SOL. */
const placeOf = (pool: number, shared: bigint) => {
  const accounts = [
    makeAccount(at(pool), venue.program.programId, 8, []),
    makeAccount(at(50), venue.program.programId, 8, [[0, shared]]),
    plainMint(SOL, BigInt(pool))
  ]
  const [own = assert.fail("no pool")] = accounts
  const clock = { slot: 1, epoch: 0, unixTimestamp: 1 }
  return { venue, snapshot: { pool: own, accounts: new Map(accounts.map((one) => [one.address, one])), clock } }
}

describe("recorded pools", () => {
  it("share a chain until one contradicts another, whatever their SOL", () => {
    const worlds = worldsOf([placeOf(1, 5n), placeOf(2, 6n), placeOf(3, 5n), placeOf(1, 5n)])
    const pools = worlds.map(({ places }) => places.map(({ snapshot }) => snapshot.pool.address))
    assert.deepStrictEqual(pools, [[at(1), at(3)], [at(2)], [at(1)]])
  })
})

describe("the tally", () => {
  it("counts a routed transaction for each of its programs, and refusals by reason", () => {
    const tally = new HttpTally()
    tally.paidAsQuoted(["a", "b"])
    tally.paidAsQuoted(["a"])
    tally.refuses("a", "no_route")
    tally.differs({ dexes: ["b"], path: "b", quoted: "1 for 2", executed: "1 for 1" })
    assert.deepInclude(tally, { exact: 2, routed: 1, refused: 1, total: 4 })
    assert.deepStrictEqual(tally.venues.get("b"), { exact: 1, wrong: 1, refused: 0 })
    assert.deepStrictEqual([...tally.refusals], [["no_route", 1]])
  })
})

describe("npm run prove:http", () => {
  it("says that no folder with programs is given, and exits with 2", { timeout: 120_000 }, () => {
    const { status, stderr } = run()
    assert.strictEqual(status, 2)
    assert.include(stderr, "No folder with programs is given")
  })

  it("says that a folder has no program of a recorded pool, and exits with 2", { timeout: 120_000 }, () => {
    const { status, stderr } = run("--programs", fileURLToPath(new URL("../vectors", import.meta.url)))
    assert.strictEqual(status, 2)
    assert.match(stderr, /No pool of .* can be executed with the programs of/u)
  })

  it.skipIf(!has)(
    "pays over HTTP what real programs pay (skipped without PROVE_PROGRAMS)",
    { timeout: 300_000 },
    () => {
      const { status, stdout } = run("--programs", binaries, "--swaps", "60", "--json")
      const summary = JSON.parse(stdout) as { exact: number; wrong: number }
      assert.strictEqual(status, 0, stdout)
      assert.isAbove(summary.exact, 10)
      assert.strictEqual(summary.wrong, 0)
    }
  )
})
