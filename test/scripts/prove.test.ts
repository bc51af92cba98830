/** The proof against programs: its comparison and its sources. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { check } from "../../scripts/exactness/check.ts"
import { readFixture } from "../../src/quotes/execution/poolFixture.ts"
import { derive } from "../../src/quotes/execution/decodeFixture.ts"
import { folderSource } from "../../scripts/prove/folderSource.ts"
import { nodeSource } from "../../scripts/prove/nodeSource.ts"
import { hasPassed, type ProofSettings, proveAll } from "../../scripts/prove/proof.ts"
import { seededRandom } from "../../src/quotes/execution/provePool.ts"
import { type Execution, loadRuntime, type Runtime } from "../../src/quotes/execution/programRuntime.ts"
import type { ProofSource } from "../../scripts/prove/sources.ts"
import { balanceIn, TRADER } from "../../src/quotes/execution/traderAccounts.ts"
import { venues } from "../../src/quotes/execution/swapVenues.ts"
import { Address } from "../../src/domain/Address.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { readU64 } from "../../src/programs/layout/bytes.ts"
import { key, pack, u32, u64 } from "../../src/programs/layout/pack.ts"
import { isUnpriceable, type Pool } from "../../src/programs/interface/Program.ts"
import { TOKEN_PROGRAM } from "../../src/programs/layout/tokenAccount.ts"
import { programDataAddress, programOf } from "../../src/quotes/execution/deployment.ts"
import { CLOCK } from "../../src/chain/clockSysvar.ts"

const vectors = fileURLToPath(new URL("../vectors/pools/", import.meta.url))
const fixture = readFixture(join(vectors, "dammv2-521-1-m22.json"))
const programId = Address.make(fixture.programId)
const venue = venues.find(({ program }) => program.programId === programId)
const pool = [...fixture.accounts.values()].find((account) => venue?.program.isPool(account))

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fathom-prove-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settings = (swaps = 16): ProofSettings => ({
  pools: 1,
  states: 1,
  swaps,
  random: seededRandom(7),
  fixtures: join(folder, "wrong")
})

const onePool: ProofSource = {
  program: async () => programOf(Uint8Array.of(1), 77),
  pools: async ({ program }) =>
    program.programId === programId && pool !== undefined
      ? [{ pool, accounts: fixture.accounts, clock: fixture.clockOf({}) }]
      : []
}

const decoded = (): Pool => {
  const read = pool && venue?.program.decode(pool, (address) => fixture.accounts.get(address) ?? null, derive)
  return read === undefined || isUnpriceable(read) ? assert.fail("the pool of the fixture is not priced") : read
}

/** A program that takes what is quoted and pays what `paid` makes of the output, or fails where that is null. */
const programPaying = (paid: (amountOut: bigint) => bigint | null) => (): Runtime => {
  const set = new Map<string, OnChainAccount>()
  const withBalance = (address: Address, change: bigint): Uint8Array => {
    const data = (set.get(address)?.data ?? new Uint8Array(165)).slice()
    new DataView(data.buffer).setBigUint64(64, balanceIn(data) + change, true)
    return data
  }
  return {
    deploy: () => undefined,
    setAccount: (account) => void set.set(account.address, account),
    setClock: () => undefined,
    simulate: (_payer, calls): Execution => {
      const { accounts, data } = calls[0] ?? assert.fail("no call")
      const [from, to] = [accounts[2]?.address ?? TRADER, accounts[3]?.address ?? TRADER]
      const priced = decoded()
      const aToB = Buffer.from(set.get(from)?.data ?? [])
        .subarray(0, 32)
        .equals(key(priced.mintA))
      const swap = priced.swap(aToB, readU64(data, 8), fixture.clockOf({}))
      const amountOut = swap.ending === "filled" ? paid(swap.amountOut) : null
      if (amountOut === null) {
        return { error: "SlippageExceeded", logs: [], units: 0 }
      }
      return {
        units: 0,
        after: (address) => {
          const change = address === from ? -swap.amountIn : address === to ? amountOut : null
          return change === null
            ? undefined
            : { data: withBalance(address, change), lamports: 1n, owner: TOKEN_PROGRAM }
        }
      }
    }
  }
}

const rowOf = async (makeRuntime: () => Runtime) => {
  const rows = await proveAll(onePool, makeRuntime, settings())
  const row = rows.find((one) => one.programId === programId) ?? assert.fail("no row of the program")
  return { row, rows }
}

/** A runtime that cannot execute at all. */
const makeFailing = (): Runtime => ({
  ...programPaying(() => null)(),
  simulate: () => {
    throw new Error("account too large")
  }
})

describe("a proof", () => {
  it("counts swaps that were executed as quoted, and names programs that are not proven", async () => {
    const { row, rows } = await rowOf(programPaying((amountOut) => amountOut))
    assert.isAbove(row.exact, 0)
    assert.deepInclude(row, { exact: row.cases, wrong: 0, errorsWrong: 0, fixtures: [], unproven: null })
    assert.strictEqual(row.cases + row.errorsRefused, 16)
    assert.strictEqual(row.deployedAtSlot, 77)
    assert.isTrue(hasPassed(rows))
    assert.strictEqual(rows.find(({ dex }) => dex === "meteora-dlmm")?.unproven, "no pool was found")
    assert.strictEqual(rows.find(({ dex }) => dex === "pumpswap")?.unproven, "no pool was found")
  })

  it("finds one unit of difference and writes a fixture that shows it again", async () => {
    const { row, rows } = await rowOf(programPaying((amountOut) => (amountOut > 1000n ? amountOut - 1n : amountOut)))
    assert.isAbove(row.wrong, 0)
    assert.isBelow(row.wrong, row.cases)
    assert.isFalse(hasPassed(rows))
    const [path = ""] = row.fixtures
    const { cases, wrong } = check(readFixture(path), () => undefined)
    assert.deepStrictEqual([cases, wrong], [row.wrong, row.wrong])
  })

  it("keeps a fixture of each state where a pool is given in several", async () => {
    const twice: ProofSource = {
      ...onePool,
      pools: async (...given) =>
        Array.from({ length: 2 }, async () => onePool.pools(...given)).reduce(async (all, one) => [
          ...(await all),
          ...(await one)
        ])
    }
    const rows = await proveAll(
      twice,
      programPaying(() => null),
      settings()
    )
    const paths = rows.flatMap(({ fixtures }) => fixtures)
    assert.strictEqual(new Set(paths).size, 2)
  })

  it("counts a swap that is quoted and that the program rejects as wrong", async () => {
    const { row, rows } = await rowOf(programPaying(() => null))
    assert.isAbove(row.errorsWrong, 0)
    assert.strictEqual(row.cases, 0)
    assert.isFalse(hasPassed(rows))
    const [path = ""] = row.fixtures
    assert.strictEqual(check(readFixture(path), () => undefined).errorsWrong, row.errorsWrong)
  })

  it("proves nothing without a program, and names the file", async () => {
    const rows = await proveAll(
      folderSource(folder, vectors),
      programPaying(() => null),
      settings()
    )
    assert.isFalse(hasPassed(rows))
    assert.include(rows.find((one) => one.programId === programId)?.unproven ?? "", `${programId}.so`)
  })

  it("leaves a pool out that the runtime fails on, with the cause", async () => {
    const { row } = await rowOf(makeFailing)
    assert.deepStrictEqual(row.left, [{ pool: pool?.address ?? "", reason: "account too large" }])
    assert.strictEqual(row.unproven, "no pool could be executed")
  })

  it("refuses in words where the runtime is absent", () => {
    const refused = loadRuntime(() => {
      throw new Error("Cannot find module 'litesvm'\nRequire stack: ...")
    })
    assert.match(
      "reason" in refused ? refused.reason : "",
      /^The optional package litesvm cannot be loaded .*'litesvm'$/u
    )
  })
})

const loader = Address.make("BPFLoaderUpgradeab1e11111111111111111111111")
const programData = programDataAddress(programId, derive)
const account = (address: Address, owner: Address, data: Uint8Array): OnChainAccount => ({
  address,
  owner,
  lamports: 1_000_000n,
  data,
  slot: 5
})
const elf = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 9, 8, 7)
const deployed = [
  account(programId, loader, pack(u32(2), key(programData))),
  account(programData, loader, pack(u32(3), u64(123_456n), new Uint8Array(33), elf))
]

describe("a node as the source", () => {
  const clockData = new Uint8Array(40)
  const clock = { slot: 900, epoch: 3, unixTimestamp: 1_780_000_000 }
  const view = new DataView(clockData.buffer)
  view.setBigUint64(0, BigInt(clock.slot), true)
  view.setBigUint64(16, BigInt(clock.epoch), true)
  view.setBigInt64(32, BigInt(clock.unixTimestamp), true)
  const held = new Map(
    [...deployed, ...fixture.accounts.values(), account(CLOCK, loader, clockData)].map((one) => [one.address, one])
  )
  const json = (address: Address) => {
    const one = held.get(address)
    const data = Buffer.from(one?.data ?? []).toString("base64")
    return one === undefined ? null : { owner: one.owner, lamports: 1_000_000, data: [data, "base64"] }
  }
  const results: Record<string, (params: ReadonlyArray<unknown>) => unknown> = {
    getMultipleAccounts: ([addresses]) => ({
      context: { slot: 900 },
      value: (addresses as ReadonlyArray<Address>).map(json)
    }),
    getSignaturesForAddress: ([address]) => (address === programId ? [{ signature: "a" }, { signature: "b" }] : []),
    getTransaction: ([signature]) => ({
      meta: { loadedAddresses: { writable: signature === "b" ? [pool?.address] : [], readonly: [] } },
      transaction: { message: { accountKeys: [programId, TRADER] } }
    })
  }
  let server: Server
  let url = ""
  beforeAll(async () => {
    server = createServer((request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part: Buffer) => parts.push(part))
      request.on("end", () => {
        const { method, params } = JSON.parse(Buffer.concat(parts).toString()) as { method: string; params: [] }
        response.setHeader("content-type", "application/json")
        response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: results[method]?.(params) }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  it("gives the program and the pools of its newest transactions, with every account of their price", async () => {
    const source = await nodeSource(url)
    assert.strictEqual((await source.program(programId)).slot, 123_456)
    const [found, ...others] = await source.pools(venue ?? assert.fail("no venue"), 3)
    assert.strictEqual(others.length, 0)
    assert.strictEqual(found?.pool.address, pool?.address)
    assert.deepStrictEqual(found?.clock, clock)
    assert.deepStrictEqual([...(found?.accounts.keys() ?? [])].toSorted(), [...fixture.accounts.keys()].toSorted())
  })
})
