/** A portal of blocks: lines of JSON in the public form, with the limits and the habits of the public one. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"

/** Blocks by slot, as a node answers them. */
export type Blocks = ReadonlyMap<number, Json>

// oxlint-disable-next-line typescript/no-explicit-any
export type Json = Record<string, any>

/** Blocks of one answer. */
const MOST = 40

const keysOf = (entry: Json): ReadonlyArray<string> => {
  const { readonly: fixed = [], writable = [] } = entry["meta"].loadedAddresses ?? {}
  return [...entry["transaction"].message.accountKeys, ...writable, ...fixed]
}

const instructionsOf = (entry: Json, transactionIndex: number) => {
  const keys = keysOf(entry)
  const rowOf = (call: Json, instructionAddress: ReadonlyArray<number>) => ({
    transactionIndex,
    instructionAddress,
    programId: keys[call["programIdIndex"]],
    accounts: call["accounts"].map((index: number) => keys[index]),
    data: call["data"]
  })
  return entry["transaction"].message.instructions.flatMap((call: Json, outer: number) => {
    const group = (entry["meta"].innerInstructions ?? []).find(({ index }: Json) => index === outer)
    const counts: Array<number> = [outer]
    const inner = (group?.instructions ?? []).map((each: Json) => {
      const depth = each["stackHeight"] ?? 2
      const parents = counts.slice(0, depth - 1)
      counts.splice(depth)
      counts[depth - 1] = (counts[depth - 1] ?? -1) + 1
      return rowOf(each, [...parents, counts[depth - 1] ?? 0])
    })
    return [rowOf(call, [outer]), ...inner]
  })
}

const balancesOf = (entry: Json, transactionIndex: number) => {
  const { postBalances, preBalances } = entry["meta"]
  return keysOf(entry).flatMap((account, at) =>
    preBalances[at] === postBalances[at]
      ? []
      : [{ transactionIndex, account, pre: String(preBalances[at]), post: String(postBalances[at]) }]
  )
}

const tokenBalancesOf = (entry: Json, transactionIndex: number) => {
  const keys = keysOf(entry)
  const { postTokenBalances = [], preTokenBalances = [] } = entry["meta"]
  const indexes = new Set<number>([...preTokenBalances, ...postTokenBalances].map(({ accountIndex }) => accountIndex))
  const sideOf = (side: "pre" | "post", found: Json | undefined) =>
    found === undefined
      ? {}
      : {
          [`${side}ProgramId`]: found["programId"],
          [`${side}Mint`]: found["mint"],
          [`${side}Decimals`]: found["uiTokenAmount"].decimals,
          [`${side}Owner`]: found["owner"],
          [`${side}Amount`]: found["uiTokenAmount"].amount
        }
  return Array.from(indexes, (index) => ({
    transactionIndex,
    account: keys[index],
    ...sideOf(
      "pre",
      preTokenBalances.find(({ accountIndex }: Json) => accountIndex === index)
    ),
    ...sideOf(
      "post",
      postTokenBalances.find(({ accountIndex }: Json) => accountIndex === index)
    )
  }))
}

const CALL = /^Program (\S+) invoke \[\d+\]$/u
const END = /^Program \S+ (?:success|failed)/u

const logsOf = (entry: Json, transactionIndex: number) => {
  const running: Array<string> = []
  return (entry["meta"].logMessages ?? []).flatMap((line: string, logIndex: number) => {
    const [, called] = CALL.exec(line) ?? []
    if (called !== undefined) {
      running.push(called)
      return []
    }
    if (END.test(line)) {
      running.pop()
      return []
    }
    const kind = line.startsWith("Program log: ") ? "log" : line.startsWith("Program data: ") ? "data" : null
    return kind === null
      ? []
      : [{ transactionIndex, logIndex, kind, programId: running.at(-1), message: line.slice(line.indexOf(": ") + 2) }]
  })
}

/** A block in the form of the portal. Lists without an entry are left out, as the public one does. */
export const portalLine = (slot: number, block: Json): string => {
  const entries: ReadonlyArray<Json> = block["transactions"]
  const lists: Record<string, ReadonlyArray<unknown>> = {
    transactions: entries.map((entry, transactionIndex) => ({
      transactionIndex,
      accountKeys: entry["transaction"].message.accountKeys,
      signatures: entry["transaction"].signatures,
      err: entry["meta"].err,
      fee: String(entry["meta"].fee),
      loadedAddresses: entry["meta"].loadedAddresses ?? { writable: [], readonly: [] },
      hasDroppedLogMessages: false
    })),
    instructions: entries.flatMap(instructionsOf),
    balances: entries.flatMap(balancesOf),
    tokenBalances: entries.flatMap(tokenBalancesOf),
    logs: entries.flatMap(logsOf)
  }
  const header = {
    number: slot,
    hash: block["blockhash"],
    parentNumber: block["parentSlot"],
    parentHash: block["previousBlockhash"],
    timestamp: block["blockTime"] ?? 0
  }
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0)
  return JSON.stringify({ header, ...Object.fromEntries(filled) })
}

/** Serves the blocks. Every seventh request is refused with 429, and every eleventh answer breaks off within a line. */
export const servePortal = async (blocks: Blocks, most = MOST) => {
  const slots = Array.from(blocks.keys()).toSorted((a, b) => a - b)
  const counts = { requests: 0, refused: 0, cut: 0 }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const number = counts.requests++
      if (request.url !== "/datasets/simulated/finalized-stream") {
        response.writeHead(404).end()
        return
      }
      if (number % 7 === 3) {
        counts.refused += 1
        response.writeHead(429, { "retry-after": "1" }).end("Too many requests")
        return
      }
      const { fromBlock, toBlock = Number.MAX_SAFE_INTEGER } = JSON.parse(Buffer.concat(chunks).toString())
      const found = slots.filter((slot) => slot >= fromBlock && slot <= toBlock).slice(0, most)
      if (found.length === 0) {
        response.writeHead(204).end()
        return
      }
      const text = found.map((slot) => `${portalLine(slot, blocks.get(slot) ?? {})}\n`).join("")
      const isCut = number % 11 === 5
      counts.cut += isCut ? 1 : 0
      const body = gzipSync(isCut ? text.slice(0, Math.floor(text.length * 0.6)) : text)
      response.writeHead(200, { "content-type": "application/x-ndjson", "content-encoding": "gzip" }).end(body)
    })
  })
  await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/datasets/simulated`,
    counts,
    close: () => void server.close()
  }
}
