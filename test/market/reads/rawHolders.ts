/** Counts holders from the raw token accounts of a node, independently of the code under test. */
import { addressFromBytes } from "../../../src/domain/Address.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"

/** Holders of one mint. */
export interface RawHolders {
  readonly tokenProgram: "spl-token" | "token-2022"
  /** Owners with their amounts, largest first. */
  readonly owners: ReadonlyArray<readonly [string, bigint]>
  readonly total: bigint
}

/** The holders at one slot. */
export interface RawChain {
  readonly slot: number
  readonly of: (mint: string) => RawHolders
}

interface Listed {
  readonly result: {
    readonly context: { readonly slot: number }
    readonly value: ReadonlyArray<{ readonly account: { readonly data: readonly [string, string] } }>
  }
}

const list = async (rpcUrl: string, program: string): Promise<Listed["result"]> => {
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "getProgramAccounts",
    params: [program, { encoding: "base64", withContext: true }]
  }
  const response = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const listed: Listed = JSON.parse(await response.text())
  return listed.result
}

/** Every account of both token programs, summed by mint and owner. */
export const readRaw = async (rpcUrl: string): Promise<RawChain> => {
  const sums = new Map<string, { tokenProgram: RawHolders["tokenProgram"]; owners: Map<string, bigint> }>()
  let slot = 0
  for (const tokenProgram of ["spl-token", "token-2022"] as const) {
    const { context, value } = await list(rpcUrl, tokenProgram === "spl-token" ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM)
    slot = context.slot
    for (const { account } of value) {
      const data = Buffer.from(account.data[0], "base64")
      if (data.length >= 165) {
        const mint = addressFromBytes(data.subarray(0, 32))
        const owner = addressFromBytes(data.subarray(32, 64))
        const { owners } = sums.get(mint) ?? { owners: new Map<string, bigint>() }
        sums.set(mint, { tokenProgram, owners })
        owners.set(owner, (owners.get(owner) ?? 0n) + data.readBigUInt64LE(64))
      }
    }
  }
  return {
    slot,
    of: (mint) => {
      const found = sums.get(mint)
      const owners = Array.from(found?.owners ?? []).filter(([, amount]) => amount > 0n)
      return {
        tokenProgram: found?.tokenProgram ?? "spl-token",
        owners: owners.toSorted(([, a], [, b]) => (a === b ? 0 : a > b ? -1 : 1)),
        total: owners.reduce((sum, [, amount]) => sum + amount, 0n)
      }
    }
  }
}
