/**
 * Turns a block of a portal into the form of `getBlock`. A portal lists transactions, instructions, balances and logs of
 * a block side by side, each with the position of its transaction. Votes are left out, and so are the balances that a
 * transaction did not change.
 */
import { type Fields, isAddresses, isCount, isFields, isTexts } from "../decoding/jsonFields.ts"
import { ImportRefused, type SourceBlock } from "./importSource.ts"

/** What a request selects. A block that lacks one of them cannot be imported. */
export const portalFields = {
  block: { number: true, hash: true, parentNumber: true, parentHash: true, timestamp: true },
  transaction: {
    transactionIndex: true,
    accountKeys: true,
    signatures: true,
    err: true,
    fee: true,
    loadedAddresses: true,
    hasDroppedLogMessages: true
  },
  instruction: { transactionIndex: true, instructionAddress: true, programId: true, accounts: true, data: true },
  balance: { transactionIndex: true, account: true, pre: true, post: true },
  tokenBalance: {
    transactionIndex: true,
    account: true,
    preProgramId: true,
    preMint: true,
    preDecimals: true,
    preOwner: true,
    preAmount: true,
    postProgramId: true,
    postMint: true,
    postDecimals: true,
    postOwner: true,
    postAmount: true
  },
  log: { transactionIndex: true, logIndex: true, programId: true, kind: true, message: true }
}

/** The rows of one list, by the position of their transaction. */
type Rows = ReadonlyMap<number, ReadonlyArray<Fields>>

/** Refuses a block that lacks something. */
type Lacks = (part: string) => never

const rowsOf = (block: Fields, name: string, lacks: Lacks): Rows => {
  const list = block[name] ?? []
  if (!Array.isArray(list)) {
    return lacks(name)
  }
  const rows = new Map<number, Array<Fields>>()
  for (const row of list) {
    const index: unknown = isFields(row) ? row["transactionIndex"] : null
    if (!isFields(row) || !isCount(index)) {
      return lacks(`transactionIndex of ${name}`)
    }
    const known = rows.get(index)
    if (known === undefined) {
      rows.set(index, [row])
    } else {
      known.push(row)
    }
  }
  return rows
}

const isPlace = (value: unknown): value is ReadonlyArray<number> =>
  Array.isArray(value) && value.length > 0 && value.every(isCount)

/** Compares places in the tree of calls: a call comes before the calls that it makes. */
const inOrder = (a: ReadonlyArray<number>, b: ReadonlyArray<number>): number => {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) {
      return difference
    }
  }
  return a.length - b.length
}

/** The outer instructions, and the inner ones by the position of their outer one. */
const instructionsOf = (rows: ReadonlyArray<Fields>, lacks: Lacks) => {
  const placed = rows.map((row) => {
    const { accounts, data, instructionAddress: place, programId } = row
    return isPlace(place) && isAddresses(accounts) && typeof data === "string" && typeof programId === "string"
      ? { place, call: { programId, accounts, data, stackHeight: place.length } }
      : lacks("fields of instructions")
  })
  placed.sort((a, b) => inOrder(a.place, b.place))
  const outer = placed.filter(({ place }) => place.length === 1)
  if (outer.some(({ place }, at) => place[0] !== at)) {
    lacks("instructions of a transaction")
  }
  const inner = Map.groupBy(
    placed.filter(({ place }) => place.length > 1),
    ({ place }) => place[0] ?? 0
  )
  return {
    instructions: outer.map(({ call }) => call),
    innerInstructions: Array.from(inner, ([index, calls]) => ({ index, instructions: calls.map(({ call }) => call) }))
  }
}

/** The number of an amount: portals write 64-bit numbers as text. Null when it is not one. */
const digitsOf = (value: unknown): string | null => {
  const text = typeof value === "number" ? String(value) : value
  return typeof text === "string" && /^\d{1,20}$/u.test(text) ? text : null
}

/**
 * Balances by account. The amount of an account that did not change is not known. It is zero before and after here,
 * because only differences are read.
 */
const balancesOf = (keys: ReadonlyArray<string>, rows: ReadonlyArray<Fields>, lacks: Lacks) => {
  const byAccount = new Map(rows.map((row) => [row["account"], row]))
  const listOf = (side: "pre" | "post") =>
    keys.map((key) => {
      const row = byAccount.get(key)
      return row === undefined ? 0 : (digitsOf(row[side]) ?? lacks("balances"))
    })
  return { preBalances: listOf("pre"), postBalances: listOf("post") }
}

const tokenBalancesOf = (keys: ReadonlyArray<string>, rows: ReadonlyArray<Fields>, lacks: Lacks) => {
  const listOf = (side: "pre" | "post") =>
    rows
      .filter((row) => (row[`${side}Mint`] ?? null) !== null)
      .map((row) => {
        const accountIndex = keys.indexOf(String(row["account"]))
        const [amount, decimals] = [digitsOf(row[`${side}Amount`]), row[`${side}Decimals`]]
        if (accountIndex === -1 || amount === null || !isCount(decimals)) {
          return lacks("tokenBalances")
        }
        return {
          accountIndex,
          mint: row[`${side}Mint`],
          owner: row[`${side}Owner`],
          programId: row[`${side}ProgramId`],
          uiTokenAmount: { amount, decimals }
        }
      })
      .toSorted((a, b) => a.accountIndex - b.accountIndex)
  return { preTokenBalances: listOf("pre"), postTokenBalances: listOf("post") }
}

const PREFIXES: Readonly<Record<string, string>> = { log: "Program log: ", data: "Program data: " }

/** The lines of programs, each between the lines that name its program, which a portal does not have. */
const logsOf = (rows: ReadonlyArray<Fields>): ReadonlyArray<string> =>
  rows
    .toSorted((a, b) => Number(a["logIndex"]) - Number(b["logIndex"]))
    .flatMap(({ kind, message, programId }) => {
      const prefix = PREFIXES[String(kind)]
      return prefix === undefined
        ? []
        : [`Program ${programId} invoke [1]`, `${prefix}${message}`, `Program ${programId} success`]
    })

interface Lists {
  readonly instructions: Rows
  readonly balances: Rows
  readonly tokenBalances: Rows
  readonly logs: Rows
}

const NONE: ReadonlyArray<Fields> = []

const addressesOf = (value: unknown): ReadonlyArray<string> | null => (isTexts(value) ? value : null)

const transactionOf = (row: Fields, lists: Lists, lacks: Lacks) => {
  const { accountKeys, err = null, loadedAddresses, signatures, transactionIndex } = row
  const loaded = isFields(loadedAddresses) ? loadedAddresses : {}
  const writable = addressesOf(loaded["writable"] ?? [])
  const readonly = addressesOf(loaded["readonly"] ?? [])
  const fee = digitsOf(row["fee"])
  if (!isCount(transactionIndex) || !isTexts(accountKeys) || !isTexts(signatures) || fee === null) {
    return lacks("fields of transactions")
  }
  if (writable === null || readonly === null) {
    return lacks("loadedAddresses")
  }
  const keys = [...accountKeys, ...writable, ...readonly]
  const of = (rows: Rows) => rows.get(transactionIndex) ?? NONE
  const balances = of(lists.balances)
  const { innerInstructions, instructions } = instructionsOf(of(lists.instructions), lacks)
  // The fee changes a balance.
  if ((balances.length === 0 && fee !== "0") || instructions.length === 0) {
    return lacks(instructions.length === 0 ? "instructions" : "balances")
  }
  return {
    index: transactionIndex,
    transaction: { signatures, message: { accountKeys, instructions } },
    meta: {
      err,
      fee,
      loadedAddresses: { writable, readonly },
      innerInstructions,
      ...balancesOf(keys, balances, lacks),
      ...tokenBalancesOf(keys, of(lists.tokenBalances), lacks),
      logMessages: logsOf(of(lists.logs))
    }
  }
}

/** The block of a line. Throws `ImportRefused`, which names what the portal lacks. */
export const blockOfPortal = (line: unknown): SourceBlock => {
  const header: unknown = isFields(line) ? line["header"] : null
  const slot: unknown = isFields(header) ? header["number"] : null
  const lacks: Lacks = (part) => {
    throw new ImportRefused({ detail: `the portal's block ${isCount(slot) ? slot : "without number"} lacks ${part}` })
  }
  if (!isFields(line) || !isFields(header) || !isCount(slot)) {
    return lacks("a header with number")
  }
  const { hash, parentHash, parentNumber, timestamp } = header
  if (!isCount(parentNumber) || typeof hash !== "string" || typeof parentHash !== "string") {
    return lacks("parentNumber, hash or parentHash of its header")
  }
  const transactions = line["transactions"] ?? []
  if (!Array.isArray(transactions)) {
    return lacks("transactions")
  }
  const lists = {
    instructions: rowsOf(line, "instructions", lacks),
    balances: rowsOf(line, "balances", lacks),
    tokenBalances: rowsOf(line, "tokenBalances", lacks),
    logs: rowsOf(line, "logs", lacks)
  }
  return {
    slot,
    answer: {
      parentSlot: parentNumber,
      blockhash: hash,
      previousBlockhash: parentHash,
      // A portal writes zero for a block without a time.
      blockTime: isCount(timestamp) && timestamp > 0 ? timestamp : null,
      transactions: transactions
        .map((row: unknown) => (isFields(row) ? transactionOf(row, lists, lacks) : lacks("transactions")))
        .toSorted((a, b) => a.index - b.index)
    }
  }
}
