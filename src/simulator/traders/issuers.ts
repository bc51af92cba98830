/** What issuers and providers do with their powers: freeze, seize, burn, airdrop, and move liquidity. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { Deed } from "../chain/Ledger.ts"
import { burn, freeze, transferChecked } from "../chain/standardCalls.ts"
import { withFrozen } from "../chain/tokens.ts"
import { sell } from "../chain/trade.ts"
import { failedDeeds, programDeed, transferDeed } from "../chain/transactions.ts"
import { decimalsOf } from "../chain/World.ts"
import type { Stage, Targets } from "./stage.ts"

/** A step of a freeze or of a seizure every 15 minutes, the others every 10 or 20 minutes. */
const POWER_EVERY = 2_250
const LIQUIDITY_EVERY = 1_500
const BURN_EVERY = 3_000
const AIRDROP_EVERY = 3_000
const RECIPIENTS = 8
const STAKE = 3_000_000_000n
/** Code of the token programs for a frozen account. */
const ACCOUNT_FROZEN = 17

export const makeIssuers = (stage: Stage, targets: Targets) => {
  const { bystanders, cast, issuer, parties, provider, random, traded, world } = stage
  const { bank } = world
  let frozen: Address | null = null
  let steps = 0

  const setFrozen = (wallet: Address, mint: Mint, isFrozen: boolean): Deed => {
    const account = world.purseAddress(wallet, mint)
    bank.put(withFrozen(bank.must(account), isFrozen))
    return programDeed(world, parties(issuer), "authority", [
      freeze(bank.must(mint).owner, account, mint, issuer, isFrozen)
    ])
  }

  /** In turn: a bystander buys and is frozen; tries to sell in vain; is thawed. */
  const freezeStep = (): ReadonlyArray<Deed> => {
    const { mint: { address: mint } = { address: SOL }, pools: [pool] = [] } = targets.frozen ?? {}
    if (pool === undefined) {
      return []
    }
    if (frozen === null) {
      const wallet = random.pick(bystanders)
      const bought = traded(wallet, sell(world, wallet, pool, SOL, STAKE))
      frozen = bought.length === 0 ? null : wallet
      return bought.length === 0 ? [] : [...bought, setFrozen(wallet, mint, true)]
    }
    if (steps % 3 !== 0) {
      const attempt = { pool, mint, amountIn: world.holding(frozen, mint), code: ACCOUNT_FROZEN }
      return failedDeeds(world, parties(frozen), attempt, 2)
    }
    const thawed = setFrozen(frozen, mint, false)
    frozen = null
    return [thawed]
  }

  /** A bystander buys; the next time the permanent delegate takes everything. */
  const seizeStep = (): ReadonlyArray<Deed> => {
    const { mint: { address: mint } = { address: SOL }, pools: [pool] = [] } = targets.delegated ?? {}
    const holder = bystanders.find((wallet) => pool !== undefined && world.holding(wallet, mint) > 0n)
    if (pool === undefined || holder === undefined) {
      const wallet = random.pick(bystanders)
      return pool === undefined ? [] : traded(wallet, sell(world, wallet, pool, SOL, STAKE))
    }
    world.takeTrace()
    const [from, to, amount] = [world.purse(holder, mint), world.purse(issuer, mint), world.holding(holder, mint)]
    world.pay(from, to, mint, amount)
    const program = bank.must(mint).owner
    const decimals = decimalsOf(world, mint)
    const call = transferChecked({ program, from, to, mint, authority: issuer, amount, decimals })
    const trace = world.takeTrace().filter(({ kind }) => kind === "purse")
    return [programDeed(world, parties(issuer), "authority", [call], { trace })]
  }

  const burnSome = (): ReadonlyArray<Deed> => {
    const mint = random.pick(targets.mints)
    const [purse, amount] = [world.purse(cast.treasury, mint), world.holding(cast.treasury, mint) / 200n]
    world.burn(purse, mint, amount)
    const call = burn(bank.must(mint).owner, mint, purse, cast.treasury, amount)
    return [programDeed(world, parties(cast.treasury), "burn", [call])]
  }

  const airdrop = (): ReadonlyArray<Deed> => {
    const mint = random.pick(targets.mints)
    const amount = world.holding(cast.treasury, mint) / 1_000_000n
    world.takeTrace()
    const receivers = new Set(Array.from({ length: RECIPIENTS }, () => random.pick(cast.retail)))
    for (const wallet of receivers) {
      world.pay(world.purse(cast.treasury, mint), world.purse(wallet, mint, cast.treasury), mint, amount)
    }
    return [transferDeed(world, parties(cast.treasury))]
  }

  /** Adds what was removed before, or removes a part. */
  const moveLiquidity = (): ReadonlyArray<Deed> => {
    const pool = random.pick(targets.provided)
    const { liquidity, mintA, mintB } = pool
    const base = mintA === SOL ? mintB : mintA
    const depth = mintA === SOL ? pool.depth().b : pool.depth().a
    const lpTokens = ((liquidity?.held() ?? 0n) * BigInt(1 + random.below(5))) / 100n
    const canAdd = Number(world.holding(provider, base)) > depth * 0.06
    const moved = liquidity?.change(canAdd && random.chance(0.6) ? lpTokens : -lpTokens)
    return moved === undefined ? [] : [programDeed(world, parties(provider), "liquidity", [moved.call], moved)]
  }

  return (slots: number): ReadonlyArray<Deed> => {
    const isDue = (every: number): boolean => random.chance(slots / every)
    const deeds: Array<Deed> = []
    if (isDue(POWER_EVERY)) {
      steps += 1
      deeds.push(...(steps % 2 === 0 ? freezeStep() : seizeStep()))
    }
    deeds.push(
      ...(isDue(LIQUIDITY_EVERY) && targets.provided.length > 0 ? moveLiquidity() : []),
      ...(isDue(BURN_EVERY) && targets.mints.length > 0 ? burnSome() : []),
      ...(isDue(AIRDROP_EVERY) && targets.mints.length > 0 ? airdrop() : [])
    )
    return deeds
  }
}
