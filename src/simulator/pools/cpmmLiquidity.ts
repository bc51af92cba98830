/** Deposits and withdrawals of Raydium CPMM: raydium-cp-swap, programs/cp-swap/src/instructions/{initialize,deposit,withdraw}.rs. */
import { readU64, writeU64 } from "../../programs/layout/bytes.ts"
import { ceilDiv } from "../../programs/math/integers.ts"
import { hex, pack, u64 } from "../../programs/layout/pack.ts"
import { CPMM_PROGRAM, cpmmAuthority, cpmmOffsets, cpmmUncollectedFees } from "../../programs/raydium/cpmmLayout.ts"
import type { Address } from "../../domain/Address.ts"
import { SYSTEM_PROGRAM } from "../chain/addresses.ts"
import { programLog, reads, signs, writes } from "../../programs/transactions/Call.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import type { CalledPool, Executed, Liquidity } from "../chain/SimPool.ts"
import { balanceOf } from "../chain/tokens.ts"
import type { Happening, World } from "../chain/World.ts"
import { innerCalls, others } from "./launchSteps.ts"

/** LP tokens that the program counts and never issues. */
export const CPMM_LOCKED_LP = 100n

const instructions = {
  Initialize: "afaf6d1f0d989bed",
  Deposit: "f223c68952e1f2b6",
  Withdraw: "b712469c946da122"
}

/** The instruction that did what is in the trace, with these numbers as its data. */
const executed = (
  world: World,
  { address, mints, vaults, part }: CalledPool,
  owner: Address,
  name: keyof typeof instructions,
  numbers: ReadonlyArray<bigint>,
  trace: ReadonlyArray<Happening>
): Executed => {
  const authority = cpmmAuthority(world.derive)
  const inner = innerCalls(
    world,
    owner,
    authority,
    trace.filter(({ kind }) => kind !== "purse")
  )
  const named = [
    signs(owner),
    reads(authority),
    writes(address),
    writes(world.purseAddress(owner, part("lp mint"))),
    writes(vaults.a),
    writes(vaults.b),
    reads(TOKEN_PROGRAM),
    reads(TOKEN_2022_PROGRAM),
    reads(mints.a),
    reads(mints.b),
    writes(part("lp mint")),
    reads(SYSTEM_PROGRAM)
  ]
  const call = {
    program: CPMM_PROGRAM,
    accounts: [...named, ...others(inner, named)],
    data: pack(hex(instructions[name]), ...numbers.map(u64)),
    steps: [programLog(`Instruction: ${name}`), ...inner],
    units: 40_000
  }
  return { call, trace }
}

/** A provider's liquidity. Deposits are rounded up and withdrawals down, as the program does. */
export const cpmmLiquidity = (world: World, pool: CalledPool, provider: Address): Liquidity => {
  const { bank } = world
  const { address, mints, vaults, part } = pool
  const lpMint = part("lp mint")

  const change: Liquidity["change"] = (lpTokens) => {
    world.takeTrace()
    const data = bank.must(address).data.slice()
    const issued = readU64(data, cpmmOffsets.lpSupply)
    const [isDeposit, lp] = lpTokens > 0n ? [true, lpTokens] : [false, -lpTokens]
    const lpPurse = world.purse(provider, lpMint)
    const amounts = (
      [
        ["a", 0],
        ["b", 1]
      ] as const
    ).map(([side, token]) => {
      const reserve = balanceOf(bank.must(vaults[side])) - cpmmUncollectedFees(data, token)
      const amount = isDeposit ? ceilDiv(lp * reserve, issued) : (lp * reserve) / issued
      const purse = world.purse(provider, mints[side])
      const [from, to] = isDeposit ? [purse, vaults[side]] : [vaults[side], purse]
      world.pay(from, to, mints[side], amount)
      return amount
    })
    if (isDeposit) {
      world.issue(lpPurse, lpMint, lp)
    } else {
      world.burn(lpPurse, lpMint, lp)
    }
    writeU64(data, cpmmOffsets.lpSupply, issued + lpTokens)
    bank.put({ ...bank.must(address), data })
    return executed(world, pool, provider, isDeposit ? "Deposit" : "Withdraw", [lp, ...amounts], world.takeTrace())
  }
  return {
    provider,
    held: () => world.holding(provider, lpMint),
    change,
    creation: (trace) => {
      const reserves = [vaults.a, vaults.b].map((vault) => balanceOf(bank.must(vault)))
      return executed(world, pool, provider, "Initialize", [...reserves, 0n], trace)
    }
  }
}
