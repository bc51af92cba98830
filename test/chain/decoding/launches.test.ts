import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { meteoraDbc } from "../../../src/programs/meteora/dbc.ts"
import { LAUNCHLAB_PROGRAM } from "../../../src/programs/raydium/launchLabLayout.ts"
import { PUMP_PROGRAM } from "../../../src/programs/pump/fees.ts"
import { Address, addressToBytes, isAddress, SOL, USDC } from "../../../src/domain/Address.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
import { castOf, fundCast } from "../../../src/simulator/traders/cast.ts"
import { makeLaunches } from "../../../src/simulator/traders/Launches.ts"
import { makeRandom } from "../../../src/simulator/chain/Random.ts"
import { sell } from "../../../src/simulator/chain/trade.ts"
import { tradeDeed } from "../../../src/simulator/chain/transactions.ts"
import { makeWorld } from "../../../src/simulator/chain/World.ts"
import { decodeBlock } from "../../../src/chain/decoding/decodeBlock.ts"
import { launchesOf } from "../../../src/chain/decoding/launches.ts"
import { newBank } from "../../simulator/chain/chains.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  event,
  little,
  named,
  POOL,
  TOKEN,
  TRADER,
  transactionOf
} from "./transactions.ts"

const key = (address: Address): Uint8Array => addressToBytes(address)
const text = (value: string): Uint8Array => bytesOf(little(BigInt(value.length), 4), Buffer.from(value))

const CURVE = named("curve")
const CREATE = "1b72a94ddeeb6376"
const created = bytesOf(
  text("Example"),
  text("XMPL"),
  text("https://example.invalid"),
  key(TOKEN),
  key(CURVE),
  key(TRADER)
)
const migrated = bytesOf(
  key(TRADER),
  key(TOKEN),
  little(1n, 8),
  little(2n, 8),
  little(3n, 8),
  key(CURVE),
  little(4n, 8),
  key(POOL)
)

const launches = (call: Call, error: unknown = null) =>
  launchesOf(transactionOf({ signers: [TRADER], calls: [call], error }))
const inside = (program: Address, tag: string, body: Uint8Array): Call => ({
  program,
  accounts: [TRADER, TOKEN],
  data: bytesOf("0000000000000000"),
  calls: [event(program, tag, body)]
})

/** LaunchLab's migration by this instruction, with this many accounts. */
const migration = (tag: string, count: number, pool: number) =>
  launches({
    program: LAUNCHLAB_PROGRAM,
    accounts: accountsAt(count, { 1: TOKEN, [pool]: POOL }),
    data: bytesOf(tag, new Uint8Array(17))
  })

const begunWith = (config: Address) => bytesOf(key(CURVE), key(config), key(TRADER), key(TOKEN), "00", little(0n, 8))
const platformsOf = (call: Call, signers: ReadonlyArray<Address> = [TRADER]) =>
  launchesOf(transactionOf({ signers, calls: [call] })).map(({ platform }) => platform)
const onDbc = (config: Address) => inside(meteoraDbc.programId, "e432f655cb428625", begunWith(config))
const onLaunchLab = (config: Address): Call => ({
  program: LAUNCHLAB_PROGRAM,
  accounts: accountsAt(18, { 1: TRADER, 3: config, 5: CURVE, 6: TOKEN }),
  data: bytesOf("4399af27da102620", new Uint8Array(17))
})

describe("a platform on a shared launchpad", () => {
  it("is known by the config of its curves", () => {
    assert.deepStrictEqual(platformsOf(onLaunchLab(Address.make("FfYek5vEz23cMkWsdJwG2oa6EphsvXSHrGpdALN4g6W1"))), [
      "letsbonk"
    ])
    assert.deepStrictEqual(platformsOf(onDbc(Address.make("FbKf76ucsQssF7XZBuzScdJfugtsSKwZFYztKsMEhWZM"))), [
      "moonshot"
    ])
  })

  it.each([
    ["bags", "BAGSB9TpGrZxQbEsrEznv5jXXdwyP6AXerN8aVRiAmcv"],
    ["believe", "5qWya6UjwWnGVhdSBL3hyZ7B45jbk6Byt1hwd7ohEGXE"],
    ["jup-studio", "8rE9CtCjwhSmbwL5fbJBtRFsS3ohfMcDFeTTC7t4ciUA"]
  ])("is known by the wallet that signs its launches: %s", (platform, signer) => {
    assert.deepStrictEqual(platformsOf(onDbc(named("config")), [TRADER, Address.make(signer)]), [platform])
  })

  it("is missing for another config and other signers, and for a launchpad of one platform", () => {
    assert.deepStrictEqual(platformsOf(onDbc(named("config"))), [undefined])
    const bags = Address.make("BAGSB9TpGrZxQbEsrEznv5jXXdwyP6AXerN8aVRiAmcv")
    assert.deepStrictEqual(platformsOf(inside(PUMP_PROGRAM, CREATE, created), [bags]), [undefined])
  })
})

/** `CreateEvent` with its newest fields. */
const withTerms = (quote: Address, rewards: string) =>
  bytesOf(
    created,
    key(TRADER),
    new Uint8Array(40),
    key(named("token program")),
    "0000",
    key(quote),
    new Uint8Array(16),
    rewards
  )

const termsOf = (quote: Address, rewards: string) =>
  launches(inside(PUMP_PROGRAM, CREATE, withTerms(quote, rewards))).map(({ holderRewards, quoteMint }) => [
    quoteMint,
    holderRewards
  ])

describe("launches", () => {
  it("are read from events of Pump.fun with names of any length", () => {
    assert.deepStrictEqual(launches(inside(PUMP_PROGRAM, CREATE, created)), [
      { event: "created", mint: TOKEN, launchpad: "pump-fun", pool: CURVE, creator: TRADER }
    ])
    const byAnother = bytesOf(created, key(POOL), little(1n, 8))
    assert.deepStrictEqual(launches(inside(PUMP_PROGRAM, CREATE, byAnother)), [
      { event: "created", mint: TOKEN, launchpad: "pump-fun", pool: CURVE, creator: POOL }
    ])
    assert.deepStrictEqual(launches(inside(PUMP_PROGRAM, "bde95db95c94ea94", migrated)), [
      { event: "migrated", mint: TOKEN, launchpad: "pump-fun", pool: POOL }
    ])
  })

  it("of Pump.fun state what the curve is paid in, and whether holders get the creator's fee", () => {
    assert.deepStrictEqual(termsOf(POOL, "01"), [[POOL, true]])
    assert.deepStrictEqual(termsOf(Address.make("11111111111111111111111111111111"), "00"), [[SOL, false]])
    // An event of before the holders' rewards.
    assert.deepStrictEqual(termsOf(USDC, ""), [[USDC, undefined]])
  })

  it("are read from an event of Meteora when created, and from the instruction when migrated", () => {
    const begun = bytesOf(key(CURVE), key(named("config")), key(TRADER), key(TOKEN), "00", little(0n, 8))
    for (const tag of ["e432f655cb428625", "d589a435c14a0f6e"]) {
      assert.deepStrictEqual(launches(inside(meteoraDbc.programId, tag, begun)), [
        { event: "created", mint: TOKEN, launchpad: "meteora-dbc", pool: CURVE, creator: TRADER }
      ])
    }
    const accounts = accountsAt(24, { 0: CURVE, 4: POOL, 13: TOKEN })
    const migration = { program: meteoraDbc.programId, accounts, data: bytesOf("9ca9e66735e45040") }
    assert.deepStrictEqual(launches(migration), [
      { event: "migrated", mint: TOKEN, launchpad: "meteora-dbc", pool: POOL }
    ])
  })

  it("are read from the instructions of LaunchLab, whichever of them a platform uses", () => {
    for (const tag of ["afaf6d1f0d989bed", "4399af27da102620", "25be7ede2c9aab11"]) {
      const accounts = accountsAt(18, { 1: POOL, 5: CURVE, 6: TOKEN })
      assert.deepStrictEqual(
        launches({ program: LAUNCHLAB_PROGRAM, accounts, data: bytesOf(tag, new Uint8Array(40)) }),
        [{ event: "created", mint: TOKEN, launchpad: "raydium-launchlab", pool: CURVE, creator: POOL }]
      )
    }
    const migrated = { event: "migrated", mint: TOKEN, launchpad: "raydium-launchlab" } as const
    assert.deepStrictEqual(migration("885cc8671cda908c", 28, 5), [{ ...migrated, pool: POOL }])
    assert.deepStrictEqual(migration("885cc8671cda908c", 29, 5), [{ ...migrated, pool: POOL }])
    assert.deepStrictEqual(migration("cf52c091fecf91df", 32, 13), [{ ...migrated, pool: POOL }])
    // The accounts are in another order, so the place of the pool is not known.
    assert.deepStrictEqual(migration("cf52c091fecf91df", 24, 13), [{ ...migrated, pool: null }])
    assert.deepStrictEqual(migration("faea0d7bd59c13ec", 18, 4), [])
  })

  it("are not read from failed transactions, other programs, truncated events or look-alikes", () => {
    assert.deepStrictEqual(launches(inside(PUMP_PROGRAM, CREATE, created), { InstructionError: [0, "Custom"] }), [])
    assert.deepStrictEqual(launches(inside(named("other program"), CREATE, created)), [])
    assert.deepStrictEqual(launches(inside(PUMP_PROGRAM, CREATE, created.subarray(0, 20))), [])
    assert.deepStrictEqual(launches(inside(PUMP_PROGRAM, CREATE, created.subarray(0, 60))), [])
    assert.deepStrictEqual(launches(inside(PUMP_PROGRAM, "bddb7fd34ee661ee", created)), [])
    const forged = { ...event(PUMP_PROGRAM, CREATE, created), accounts: [TRADER, TOKEN] }
    assert.deepStrictEqual(launches(forged), [])
    assert.deepStrictEqual(
      launches({ program: meteoraDbc.programId, accounts: [CURVE], data: bytesOf("9ca9e66735e45040") }),
      []
    )
  })
})

describe.each(["pump-fun", "meteora", "launchlab"] as const)("a simulated coin on %s", (kind) => {
  it("is found in its blocks when it launches, when its curve is completed and when it graduates", () => {
    const bank = newBank(kind)
    const world = makeWorld(kind, bank)
    const { cast } = castOf(kind)
    const all = makeLaunches({ world, random: makeRandom(kind), cast })
    bank.produce(() => {
      for (const [address, decimals] of [
        [SOL, 9],
        [USDC, 6]
      ] as const) {
        world.newMint({ address, decimals, authority: null, freezeAuthority: null, transferFee: null })
      }
      fundCast(world, cast)
      return []
    })
    const newest = () => {
      const { slot } = bank.newest()
      const config = { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }
      return decodeBlock(slot, JSON.parse(Result.getOrThrow(getBlock(bank, [slot, config]))))
    }
    const heard = () => newest()?.launches ?? []
    bank.produce(() => {
      const deeds = []
      while (!all.all().some((launched) => launched.kind === kind)) {
        deeds.push(all.launch())
      }
      return deeds
    })
    const coin = () => all.all().find((launched) => launched.kind === kind) ?? assert.fail("not launched")
    const launchpad = { "pump-fun": "pump-fun", meteora: "meteora-dbc", launchlab: "raydium-launchlab" }[kind]
    const { curve, mint } = coin()
    const { creator, ...begun } = heard().find((launch) => launch.mint === mint.address) ?? assert.fail("not heard")
    assert.deepStrictEqual(begun, { event: "created", mint: mint.address, launchpad, pool: curve.address })
    assert.isTrue(isAddress(creator ?? ""), "its creator is named")
    const whale = cast.whales[0] ?? cast.treasury
    while (!curve.complete()) {
      bank.takeJournal()
      bank.produce(() => {
        const bought = sell(world, whale, curve, SOL, 10_000_000_000n)
        return bought === null ? [] : [tradeDeed(world, { wallet: whale, validator: cast.validator }, [bought])]
      })
    }
    const [purchase] = newest()?.transactions ?? []
    const [net] = purchase?.nets ?? []
    const recorded = bank.newest().transactions.flatMap(({ swaps }) => swaps)
    assert.lengthOf(recorded, 1)
    assert.deepStrictEqual(net?.token.amount, recorded[0]?.amountOut)
    assert.deepStrictEqual(net?.quote.amount, recorded[0]?.amountIn)
    assert.strictEqual(purchase?.legs.length, kind === "pump-fun" ? 2 : 1, "a part on the curve, and a part beyond it")
    assert.isTrue(purchase?.legs.every(({ confirmed }) => confirmed !== false))
    bank.takeJournal()
    bank.produce(() => all.graduate())
    assert.deepInclude(heard(), {
      event: "migrated",
      mint: mint.address,
      launchpad,
      pool: coin().pool?.address ?? null
    })
  })
})
