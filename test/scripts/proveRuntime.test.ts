/** Token-2022 as LiteSVM carries it, and real programs where they are at hand, against what is quoted. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { existsSync, globSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { readFixture } from "../../src/quotes/execution/poolFixture.ts"
import { derive } from "../../src/quotes/execution/decodeFixture.ts"
import { executeRecorded, type ExecutedSettings } from "../../scripts/exactness/executed.ts"
import { folderSource } from "../../scripts/prove/folderSource.ts"
import { type ProofSettings, proveAll } from "../../scripts/prove/proof.ts"
import { seededRandom } from "../../src/quotes/execution/provePool.ts"
import { loadRuntime } from "../../src/quotes/execution/programRuntime.ts"
import type { ProofSource } from "../../scripts/prove/sources.ts"
import { balanceIn, TRADER, traderAccount, wallet } from "../../src/quotes/execution/traderAccounts.ts"
import { Address } from "../../src/domain/Address.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { pack, u16, u64, u8 } from "../../src/programs/layout/pack.ts"
import { TOKEN_2022_PROGRAM, plainMint, type TransferFee } from "../../src/programs/layout/tokenAccount.ts"
import { afterTransfer } from "../../src/programs/math/transferFee.ts"
import { reads, signs, writes } from "../../src/programs/transactions/Call.ts"

const vectors = fileURLToPath(new URL("../vectors/pools/", import.meta.url))
const fixture = readFixture(join(vectors, "dammv2-521-1-m22.json"))
const programId = Address.make(fixture.programId)
const pool = [...fixture.accounts.values()].find(({ owner }) => owner === programId)
const binaries = process.env["PROVE_PROGRAMS"] ?? ""

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
  program: folderSource(binaries, vectors).program,
  pools: async ({ program }) =>
    program.programId === programId && pool !== undefined
      ? [{ pool, accounts: fixture.accounts, clock: fixture.clockOf({}) }]
      : []
}

const loaded = loadRuntime()
const makeRuntime = typeof loaded === "function" ? loaded : null
const absent = typeof loaded === "function" ? "" : ` (skipped: ${loaded.reason})`

const mint = Address.make("MintFee111111111111111111111111111111111111")
const feeBytes = ({ bps, epoch, maximum }: TransferFee): Uint8Array => pack(u64(epoch), u64(maximum), u16(Number(bps)))

/** A mint of Token-2022 with these transfer fees. */
const feeMint = (older: TransferFee, newer: TransferFee): OnChainAccount => {
  const config = pack(new Uint8Array(72), feeBytes(older), feeBytes(newer))
  const data = pack(plainMint(mint).data, new Uint8Array(83), u8(1), u16(1), u16(config.length), config)
  return { ...plainMint(mint), owner: TOKEN_2022_PROGRAM, data, lamports: 1_000_000_000n }
}

const fee = (epoch: bigint, bps: bigint, maximum: bigint): TransferFee => ({ epoch, bps, maximum })

describe.skipIf(makeRuntime === null)(`transfers of Token-2022 in LiteSVM${absent}`, () => {
  const random = seededRandom(11)
  const receiver = Address.make("Receiver11111111111111111111111111111111111")

  it.each([
    [fee(0n, 0n, 0n), fee(0n, 1n, 10n ** 18n)],
    [fee(0n, 250n, 5_000n), fee(10n, 9_999n, 10n ** 18n)],
    [fee(0n, 10_000n, 10n ** 18n), fee(10n, 333n, 77n)]
  ])("withhold what is quoted before and after a change of the fee: %o, then %o", (older, newer) => {
    const runtime = makeRuntime?.() ?? assert.fail("no runtime")
    const account2022 = feeMint(older, newer)
    const from = traderAccount(derive, account2022, 2n ** 62n)
    const empty = traderAccount(derive, account2022, 0n)
    const to = { ...empty, address: receiver }
    for (const one of [wallet(TRADER, 1_000_000_000_000n), account2022, from, to]) {
      runtime.setAccount(one)
    }
    for (const epoch of [9, 10, 11]) {
      runtime.setClock({ slot: epoch * 432_000, epoch, unixTimestamp: 1_780_000_000 })
      for (let bits = 0; bits < 60; bits += 3) {
        const amount = 2n ** BigInt(bits) + BigInt(random(1 + bits))
        const execution = runtime.simulate(TRADER, [
          {
            program: TOKEN_2022_PROGRAM,
            accounts: [writes(from.address), reads(mint), writes(to.address), signs(TRADER)],
            // TransferChecked: tag, amount, decimals.
            data: pack(u8(12), u64(amount), u8(6)),
            steps: [],
            units: 0
          }
        ])
        const after = "after" in execution ? execution.after(to.address)?.data : assert.fail(execution.error)
        assert.strictEqual(
          balanceIn(after ?? assert.fail("no account")),
          afterTransfer({ older, newer }, amount, epoch),
          `${amount} in epoch ${epoch}`
        )
      }
    }
  })
})

const here = makeRuntime !== null && binaries !== "" && existsSync(join(binaries, `${programId}.so`))
const why = here ? "" : " (skipped: PROVE_PROGRAMS names no folder with programs, or litesvm cannot be loaded)"

/** Offset of the base fee in a pool account of DAMM v2. */
const BASE_FEE_AT = 8

/** The pool as a program charges it that takes twice the base fee; quotes read the account as it was. */
const charged = (one: OnChainAccount): OnChainAccount => {
  const data = one.data.slice()
  const view = new DataView(data.buffer)
  view.setBigUint64(BASE_FEE_AT, view.getBigUint64(BASE_FEE_AT, true) * 2n, true)
  return { ...one, data }
}

const makeUpgraded = () => {
  const runtime = makeRuntime?.() ?? assert.fail("no runtime")
  return {
    ...runtime,
    setAccount: (one: OnChainAccount) => runtime.setAccount(one.address === pool?.address ? charged(one) : one)
  }
}

describe.skipIf(!here)(`real programs${why}`, () => {
  it("pay what is quoted, to the unit", async () => {
    const make = makeRuntime ?? assert.fail("no runtime")
    const rows = await proveAll(folderSource(binaries, vectors), make, { ...settings(24), pools: 40 })
    const row = rows.find((one) => one.programId === programId)
    assert.isAbove(row?.exact ?? 0, 100)
    assert.deepStrictEqual(
      rows.filter(({ errorsWrong, wrong }) => wrong + errorsWrong > 0).map(({ dex, fixtures }) => ({ dex, fixtures })),
      []
    )
  })

  it("are found out when a fee is not the one that quotes know", async () => {
    const rows = await proveAll(onePool, makeUpgraded, settings())
    const row = rows.find((one) => one.programId === programId)
    assert.isAbove(row?.wrong ?? 0, 0)
    assert.strictEqual(row?.fixtures.length, 1)
  })
})

describe.skipIf(makeRuntime === null)(`npm run exactness -- --executed${absent}`, () => {
  const paths = globSync(join(vectors, "*.json")).toSorted()
  const settings: ExecutedSettings = { states: 2, swaps: 8, random: seededRandom(3) }
  const run = (programs: string) => {
    const lines: Array<{ readonly program?: string; readonly left?: string | null }> = []
    const code = executeRecorded(paths, programs, makeRuntime ?? (() => assert.fail("no runtime")), settings, (line) =>
      lines.push(line)
    )
    return { code, lines }
  }

  it("names the files whose program is not there, and does not pass without a swap", () => {
    const { code, lines } = run(folder)
    assert.strictEqual(code, 1)
    const left = lines.filter(({ program }) => program === undefined)
    assert.strictEqual(left.length, paths.length)
    assert.isTrue(left.every((line) => typeof line.left === "string"))
  })

  it.skipIf(!existsSync(join(binaries, `${programId}.so`)))(
    "executes recorded and random swaps as they are quoted, to the unit",
    () => {
      const { code, lines } = run(binaries)
      assert.strictEqual(code, 0)
      assert.isTrue(lines.some(({ program }) => program === "meteora-damm-v2"))
    },
    120_000
  )
})
