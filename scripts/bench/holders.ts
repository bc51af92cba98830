/**
 * Holders of one mint with 1,000,000 token accounts: the time to read a node's answer with all of them, the memory that
 * they take, and the processor time of 5,000 balance changes and of the figures. The first argument is the number of
 * accounts; `--json` prints one line.
 */
import { setImmediate as nextTurn } from "node:timers/promises"
import { type Address, addressFromBytes } from "../../src/domain/Address.ts"
import { toBase58 } from "../../src/domain/base58.ts"
import { HolderBook } from "../../src/market/reads/HolderBook.ts"
import { HolderTable } from "../../src/market/reads/HolderTable.ts"
import { ListElements } from "../../src/chain/rpc/listElements.ts"
import { report } from "./report.ts"
import { countArgument } from "../options.ts"

const ACCOUNTS = countArgument("The number of accounts", 1_000_000)
const CHANGES = 5000
const BLOCKS_A_SECOND = 2.5
const SECONDS = 20
const CHUNK = 65_536
const MINT = addressFromBytes(new Uint8Array(32).fill(9))

const ownerBytes = (n: number): Uint8Array => {
  const bytes = new Uint8Array(32)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < 32; at += 4) {
    view.setUint32(at, Math.imul(n + at + 1, 0x9e3779b1) ^ (n << (at % 13)))
  }
  view.setUint32(0, n)
  return bytes
}
const ownerOf = (n: number): Address => toBase58(ownerBytes(n)) as Address

const accountText = (n: number): string => {
  const data = Buffer.alloc(40)
  data.set(ownerBytes(n))
  data.writeBigUInt64LE(BigInt(Math.imul(n, 0x9e3779b1) >>> 0) * 1_000_003n + 1n, 32)
  return (
    `{"account":{"data":["${data.toString("base64")}","base64"],"executable":false,"lamports":2039280,` +
    `"owner":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA","rentEpoch":18446744073709551615,"space":165},` +
    `"pubkey":"${ownerOf(n)}"}`
  )
}

/** Bytes of the heap and of buffers, after a collection. */
const used = async (): Promise<number> => {
  await nextTurn()
  globalThis.gc?.()
  await nextTurn()
  globalThis.gc?.()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const cpuMs = (since: NodeJS.CpuUsage): number => {
  const { system, user } = process.cpuUsage(since)
  return (system + user) / 1000
}

const main = async (): Promise<void> => {
  const before = await used()
  const table = new HolderTable()
  const elements = new ListElements({
    property: "value",
    mostBytes: 65_536,
    visit: (element) => {
      const { account } = JSON.parse(element)
      const data = Buffer.from(account.data[0], "base64")
      table.add(toBase58(data.subarray(0, 32)) as Address, data.readBigUInt64LE(32))
    }
  })
  let [readMs, longestMs, bytes] = [0, 0, 0]
  const add = (text: string): void => {
    const chunk = Buffer.from(text)
    bytes += chunk.length
    for (let at = 0; at < chunk.length; at += CHUNK) {
      const begun = process.cpuUsage()
      elements.add(chunk.subarray(at, at + CHUNK))
      const took = cpuMs(begun)
      readMs += took
      longestMs = Math.max(longestMs, took)
    }
  }
  add(`{"jsonrpc":"2.0","result":{"context":{"apiVersion":"3.1.0","slot":1},"value":[`)
  let batch: Array<string> = []
  for (let n = 0; n < ACCOUNTS; n++) {
    batch.push((n === 0 ? "" : ",") + accountText(n))
    if (batch.length === 1000 || n === ACCOUNTS - 1) {
      add(batch.join(""))
      batch = []
    }
  }
  add(`]},"id":1}`)
  elements.rest()

  const book = new HolderBook({ mints: 1, owners: ACCOUNTS })
  const batchAt = (slot: number, changes: string) => ({
    batch: {
      slot,
      timeMs: slot * 400,
      trades: [],
      transactions: [],
      launches: [],
      holdings: { mints: [MINT], changes: [changes] },
      afterGap: false
    },
    missed: 0,
    isAnew: false
  })
  book.take(batchAt(1, `${ownerOf(0)} 0`))
  const token = book.use(MINT, "spl-token", 0)
  book.begin()
  if (token === null || !book.finish(token, table, 1, { nowMs: 0, tookMs: 1 })) {
    throw new Error("the table was not taken")
  }
  const held = (await used()) - before

  const perBlock = Math.floor(CHANGES / BLOCKS_A_SECOND)
  let [changeMs, topMs, place] = [0, 0, 1]
  for (let block = 0; block < SECONDS * BLOCKS_A_SECOND; block++) {
    const changes: Array<string> = []
    for (let pair = 0; pair < perBlock / 2; pair++) {
      const from = (place += 7919) % ACCOUNTS
      changes.push(`${ownerOf(from)} -1`, `${ownerOf(ACCOUNTS + (place % 100_000))} 1`)
    }
    const given = batchAt(block + 2, changes.join(","))
    const begun = process.cpuUsage()
    book.take(given)
    changeMs += cpuMs(begun)
    const asked = process.cpuUsage()
    table.largest(100)
    table.largest(50, [ownerOf(1)])
    topMs += cpuMs(asked)
  }
  report("holders", {
    accounts: ACCOUNTS,
    answerMb: Math.round(bytes / 1e6),
    readCpuMs: Math.round(readMs),
    longestChunkMs: Math.round(longestMs * 10) / 10,
    heldMb: Math.round(held / 1e5) / 10,
    cpuMsPerSecondOfChanges: Math.round((changeMs / SECONDS) * 10) / 10,
    figuresCpuMs: Math.round((topMs / (SECONDS * BLOCKS_A_SECOND)) * 10) / 10,
    isWhole: token.isWhole
  })
}

await main()
