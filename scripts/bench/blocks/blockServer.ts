/**
 * A node that has nothing but blocks of 5 MB, made by the simulator: `blockServer.ts` in a process of its own. It prints its
 * address and the size of its blocks as one JSON line. Each line on its input is the newest slot from then on. Its
 * argument is the number of milliseconds that a block is on its way; 0 by default.
 */
import { Result } from "effect"
import { createServer } from "node:http"
import { constants, setPriority } from "node:os"
import { createInterface } from "node:readline"
import { makeBank } from "../../../src/simulator/chain/Bank.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"

const BYTES = 5_000_000
const VARIETIES = 3

/** Blocks of the simulator, without their place in the chain; transactions of blocks that are too small are repeated. */
const bodies = (): ReadonlyArray<string> => {
  const bank = makeBank({ seed: "blocks", startSlot: 1, startUnixMs: 1_790_000_000_000 })
  const market = makeMarket({ seed: "blocks", bank, swapsPerSecond: 1_300 })
  return Array.from({ length: VARIETIES }, () => {
    const { slot } = market.advance()
    const wanted = [slot, { maxSupportedTransactionVersion: 0, rewards: false }]
    const text = Result.getOrThrow(getBlock(bank, wanted))
    const list = text.slice(text.indexOf('"transactions":[') + '"transactions":['.length, -2)
    const times = Math.ceil(BYTES / list.length)
    return `"transactions":[${Array.from({ length: times }, () => list).join(",")}]}`
  })
}

// A real node has a machine of its own.
setPriority(constants.priority.PRIORITY_LOW)

const onItsWayMs = Number(process.argv[2] ?? 0)
const PIECES = 20

const state = { head: 0 }
const ready = bodies()

const blockAt = (slot: number): string => {
  const blockTime = Math.floor(Date.now() / 1000)
  return `{"parentSlot":${slot - 1},"blockTime":${blockTime},${ready[slot % VARIETIES] ?? ""}`
}

const answer = (method: string, params: ReadonlyArray<unknown>): string => {
  switch (method) {
    case "getBlock":
      return blockAt(Number(params[0]))
    case "getBlocksWithLimit": {
      const [from, limit] = params.map(Number)
      const last = Math.min(state.head, (from ?? 0) + (limit ?? 0) - 1)
      return JSON.stringify(Array.from({ length: Math.max(0, last - (from ?? 0) + 1) }, (_, i) => (from ?? 0) + i))
    }
    case "getFirstAvailableBlock":
      return "0"
    case "getGenesisHash":
      return '"4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"'
    default:
      return String(state.head)
  }
}

createInterface(process.stdin).on("line", (line) => {
  state.head = Number(line)
})

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const { method, params } = JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, { "content-type": "application/json" })
    const text = `{"jsonrpc":"2.0","id":1,"result":${answer(method, params ?? [])}}`
    if (onItsWayMs === 0 || method !== "getBlock") {
      response.end(text)
      return
    }
    const startedAt = performance.now()
    let sent = 0
    const timer = setInterval(() => {
      const due = Math.min(PIECES, Math.floor(((performance.now() - startedAt) * PIECES) / onItsWayMs))
      const upTo = Math.floor((due * text.length) / PIECES)
      response.write(text.slice(sent, upTo))
      sent = upTo
      if (due === PIECES) {
        clearInterval(timer)
        response.end()
      }
    }, onItsWayMs / PIECES)
  })
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  const port = typeof address === "object" ? (address?.port ?? 0) : 0
  process.stdout.write(`${JSON.stringify({ port, bytes: ready[0]?.length ?? 0 })}\n`)
})
