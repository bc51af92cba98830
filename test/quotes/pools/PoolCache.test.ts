import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { type Address, addressFromBytes, addressToBytes, SOL } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import type { Accounts, DeriveAddress, Program } from "../../../src/programs/interface/Program.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { followedPrograms } from "../../../src/programs/registry.ts"
import { discriminator } from "../../../src/quotes/execution/makeAccount.ts"
import type { MintPools } from "../../../src/quotes/pools/MintPools.ts"
import { PoolCache } from "../../../src/quotes/pools/PoolCache.ts"
import { randomFrom } from "../../programs/syntheticPools.ts"
import { at, toyPool, toyProgram, vault } from "../toyChain.ts"

/** Hashes without a search for a bump, which would take most of the test. */
const derive: DeriveAddress = (programId, seeds) =>
  addressFromBytes(
    createHash("sha256")
      .update(Buffer.concat([addressToBytes(programId), ...seeds]))
      .digest()
  )

/** Length and discriminator of a pool account, and the fields that matter for its needs: price, spacing, bitmap. */
interface Layout {
  readonly length: number
  readonly head: string
  readonly price?: number
  readonly spacing?: number
  readonly bitmap?: number
}

const layouts: Readonly<Record<string, Layout>> = {
  "raydium-amm-v4": { length: 752, head: "0600000000000000" },
  "raydium-cpmm": { length: 637, head: "f7ede3f5d7c3de46" },
  "raydium-clmm": { length: 1544, head: "f7ede3f5d7c3de46", price: 269, spacing: 235, bitmap: 904 },
  "raydium-launchlab": { length: 429, head: "f7ede3f5d7c3de46" },
  pumpswap: { length: 301, head: "f19a6d0411b16dbc" },
  "pump-fun-curve": { length: 166, head: "17b7f83760d8ac60" },
  "orca-whirlpool": { length: 653, head: "3f95d10ce1806309", price: 81, spacing: 41 },
  "meteora-dlmm": { length: 904, head: "210b3162b565b10d", price: 76, bitmap: 584 },
  "meteora-damm-v2": { length: 1112, head: "f19a6d0411b16dbc" },
  toy: { length: 160, head: "" },
  "meteora-dbc": { length: 424, head: "d5e005d16245775c" }
}

const layoutOf = ({ dex }: Program): Layout => {
  const layout = layouts[dex]
  if (layout === undefined) {
    throw new Error(`no layout of ${dex}`)
  }
  return layout
}

/** Discriminators of accounts that needs are found from: the bitmap extensions of CLMM and DLMM, and a DBC config. */
const HEADS = ["3c9624db61808b99", "506f7c7137ed1205", "1a6c0e7b74e6812b"]
const POOL = at(20)
const MINT = at(10)

const scene = (program: Program, layout: Layout, seed: number) => {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const bytes = (length: number, head: string) => {
    const data = Uint8Array.from({ length }, () => (below(3) === 0 ? below(256) : 0))
    data.set(discriminator(head).subarray(0, length))
    return data
  }
  const account = (address: Address, owner: Address, data: Uint8Array): OnChainAccount => ({
    address,
    owner,
    lamports: BigInt(below(2)),
    data,
    slot: below(100)
  })
  const settings = (view: DataView) => {
    if (layout.price !== undefined) {
      view.setInt32(layout.price, below(300) - 200, true)
    }
    if (layout.spacing !== undefined) {
      view.setUint16(layout.spacing, below(2) === 0 ? 4 : 64, true)
    }
  }
  const newPool = () => {
    const data = bytes(layout.length, layout.head)
    settings(new DataView(data.buffer))
    return account(POOL, program.programId, data)
  }
  /** Another state of the pool: as after a swap, with one byte changed, or with everything changed. */
  const changed = (pool: OnChainAccount): OnChainAccount => {
    const data = pool.data.slice()
    const kind = below(8)
    if (kind < 4 && layout.price !== undefined && data.length > layout.price + 4) {
      const view = new DataView(data.buffer)
      view.setInt32(layout.price, view.getInt32(layout.price, true) + below(200) - 100, true)
    } else if (kind < 5) {
      data[(layout.bitmap ?? 0) + below(layout.bitmap === undefined ? data.length : 128)] = below(256)
    } else if (kind < 7) {
      data[below(data.length)] = below(256)
    } else {
      return below(3) === 0 ? account(POOL, TOKEN_PROGRAM, data) : newPool()
    }
    return account(POOL, program.programId, data)
  }
  const other = (address: Address) =>
    account(
      address,
      [program.programId, TOKEN_PROGRAM, TOKEN_2022_PROGRAM][below(3)] ?? TOKEN_PROGRAM,
      bytes([82, 1048, 1576, 1832, 2000][below(5)] ?? 82, HEADS[below(HEADS.length)] ?? "")
    )
  return { below, changed, newPool, other }
}

const freshNeeds = (program: Program, pool: OnChainAccount | null, accounts: Accounts): ReadonlyArray<Address> => {
  try {
    return pool === null ? [] : program.needs(pool, accounts, derive, MINT)
  } catch {
    return []
  }
}

/** A cache with one pool of a program, and what a feed that follows its accounts knows. */
const cacheOf = (program: Program) => {
  const cache = new PoolCache(derive)
  const known = new Map<Address, OnChainAccount | null | undefined>()
  cache.setPools(MINT, [{ program, address: POOL, account: null, foundBy: MINT }])
  const refresh = () => {
    while (cache.refreshNext());
    const { unwatch, watch } = cache.takeChanges()
    watch.forEach((address) => known.set(address, undefined))
    unwatch.forEach((address) => known.delete(address))
  }
  const write = (...accounts: ReadonlyArray<readonly [Address, OnChainAccount | null]>) => {
    accounts.forEach(([address, account]) => known.has(address) && known.set(address, account))
    cache.apply({ _tag: "Writes", slot: 1, accounts: new Map(accounts) })
  }
  refresh()
  return { cache, known, refresh, write }
}

describe("the accounts that a pool needs", () => {
  it.each([...followedPrograms, toyProgram])("are those that are found afresh, after any writes: $dex", (program) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { below, changed, newPool, other } = scene(program, layoutOf(program), seed)
      const { cache, known, refresh, write } = cacheOf(program)
      let pool: OnChainAccount | null = newPool()
      write([POOL, pool])
      for (let step = 0; step < 30; step++) {
        refresh()
        const needed = new Set([POOL, ...freshNeeds(program, pool, (address) => known.get(address))])
        assert.deepStrictEqual(new Set(known.keys()), needed, `seed ${seed}, step ${step}`)
        const others = Array.from(known.keys()).filter((address) => address !== POOL && below(3) === 0)
        write(...others.map((address) => [address, below(6) === 0 ? null : other(address)] as const))
        if (below(3) > 0) {
          pool = below(20) === 0 ? null : pool === null ? newPool() : changed(pool)
          write([POOL, pool])
        }
        if (below(3) === 0) {
          cache.poolAt(POOL)
        }
      }
    }
  })

  it.each(followedPrograms)("are not found again after a write of another account: $dex", (program) => {
    let finds = 0
    const counted: Program = {
      ...program,
      needs: (...given) => {
        finds++
        return program.needs(...given)
      }
    }
    const { newPool, other } = scene(program, layoutOf(program), 1)
    const { known, refresh, write } = cacheOf(counted)
    const pool = newPool()
    write([POOL, pool])
    refresh()
    const before = finds
    const last = Array.from(known.keys()).findLast((address) => address !== POOL)
    write(
      [POOL, { ...pool, data: pool.data.slice(), slot: 200 }],
      ...(last === undefined ? [] : [[last, other(last)] as const])
    )
    refresh()
    assert.isAbove(before, 0)
    assert.strictEqual(finds, before)
  })

  it("are found again after a write of an account that they were found from, when nobody reads the pool", () => {
    const [config, named] = [at(40), at(41)]
    const program: Program = {
      ...toyProgram,
      needs: (pool, accounts, ...rest) => [
        ...toyProgram.needs(pool, accounts, ...rest),
        config,
        ...(accounts(config) ? [named] : [])
      ],
      keepsNeeds: (before, after) => Buffer.compare(before.data, after.data) === 0
    }
    const { cache, known, refresh, write } = cacheOf(program)
    write([POOL, toyPool({ address: POOL, mintA: MINT, mintB: SOL, vaultA: at(21), vaultB: at(22) })])
    refresh()
    write([at(21), vault(at(21), 10n)], [at(22), vault(at(22), 10n)], [config, null])
    refresh()
    assert.isTrue(cache.isSettled(MINT))
    write([at(21), vault(at(21), 11n)])
    refresh()
    write([at(21), vault(at(21), 12n)])
    refresh()
    write([at(21), vault(at(21), 13n)])
    assert.isFalse(cache.refreshNext())
    assert.isFalse(known.has(named))
    write([config, vault(config, 1n)])
    refresh()
    assert.isTrue(known.has(named))
  })
})

describe("a pool that a read decodes for the first time", () => {
  const found = { program: toyProgram, address: POOL, account: null }
  const isRead = (pools: MintPools | null) => pools?.pools[0]?.address === POOL
  const reads: Record<string, (cache: PoolCache) => MintPools | null> = {
    between: (cache) => cache.between(SOL, MINT),
    pairOf: (cache) => cache.pairOf(SOL, MINT),
    poolsOf: (cache) => cache.poolsOf(MINT)
  }

  it.each(Object.keys(reads).flatMap((name) => [undefined, MINT].map((foundBy) => [name, foundBy] as const)))(
    "is in the result of that read: %s, found by %s",
    (name, foundBy) => {
      const cache = new PoolCache(derive)
      const read = () => reads[name]?.(cache) ?? null
      cache.setPools(MINT, [])
      cache.setReady(MINT)
      assert.isTrue(cache.addPool(MINT, { ...found, foundBy }, 10))
      assert.deepStrictEqual(
        read()?.refused.map(({ reason }) => reason),
        ["incomplete"]
      )
      const write = (...accounts: ReadonlyArray<OnChainAccount>) =>
        cache.apply({ _tag: "Writes", slot: 1, accounts: new Map(accounts.map((one) => [one.address, one])) })
      write(toyPool({ address: POOL, mintA: MINT, mintB: SOL, vaultA: at(21), vaultB: at(22) }))
      assert.isFalse(isRead(read()))
      write(vault(at(21), 10n), vault(at(22), 10n))
      assert.isTrue(isRead(read()))
      assert.isTrue(isRead(read()))
    }
  )
})
