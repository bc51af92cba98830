/**
 * Processor time of account writes over the bus: `npm run bench:accounts -- --json [--writes 2000] [--slots 60] [--leased 20000]`. A fifth of the
 * accounts holds 1,544 bytes, the rest 264. Milliseconds a slot: `encode` in the process that fills the bus, `follow` in a process that
 * follows all of the accounts (decodes and applies slot by slot), `ignore` in a process that follows none of them. `revise` is
 * what a changed lease with one other account costs the process that fills the bus, in milliseconds a revision. `valkey` is
 * what an append and a read cost a `valkey-server` or `redis-server` started for the purpose; null where neither is installed.
 */
import { Effect, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { parseArgs } from "node:util"
import { addressFromBytes } from "../../src/domain/Address.ts"
import { AccountBuffer } from "../../src/chain/accounts/AccountBuffer.ts"
import { RelayedWrites } from "../../src/chain/bus/RelayedWrites.ts"
import { type AccountMessage, decodeMessage, encodeMessage, keyOfAddress } from "../../src/chain/bus/accountMessage.ts"
import { AccountBus } from "../../src/storage/bus/AccountBus.ts"
import * as AccountBusValkey from "../../src/storage/valkey/AccountBusValkey.ts"
import { makeConnection } from "../../src/storage/valkey/busConnection.ts"
import { startValkey } from "../cluster/parts.ts"
import { numberOption } from "../options.ts"
import { report } from "./report.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    writes: { type: "string", default: "2000" },
    slots: { type: "string", default: "60" },
    leased: { type: "string", default: "20000" }
  }
})
const [writes, slots, leased] = [
  numberOption("--writes", values.writes, { whole: true }),
  numberOption("--slots", values.slots, { whole: true }),
  numberOption("--leased", values.leased, { whole: true })
]
const WARM = 10

const owner = addressFromBytes(randomBytes(32))
const accounts = Array.from({ length: writes }, () => addressFromBytes(randomBytes(32)))
const byKey = new Map(accounts.map((address) => [keyOfAddress(address), address]))
const bytes = new Map(accounts.map((address) => [address, Buffer.from(keyOfAddress(address), "latin1")]))

const messageOf = (slot: number): AccountMessage => ({
  session: 1,
  slot,
  leases: new Map([["reader", 1]]),
  unfollowed: [],
  writes: accounts.map((address, i) => {
    const data = new Uint8Array(i % 5 === 0 ? 1544 : 264)
    data.set(randomBytes(64))
    return [address, { slot, writeVersion: i, account: { address, owner, lamports: 1n, data, slot } }]
  })
})

/** Milliseconds of processor time of one call, after some that are not measured. */
const cost = (work: (i: number) => unknown): number => {
  for (let i = 0; i < WARM; i++) {
    work(i)
  }
  const begun = process.cpuUsage()
  for (let i = WARM; i < WARM + slots; i++) {
    work(i)
  }
  const { system, user } = process.cpuUsage(begun)
  return Math.round((system + user) / slots / 10) / 100
}

const messages = Array.from({ length: WARM + slots }, (_, i) => messageOf(100 + i))
const at = <A>(list: ReadonlyArray<A>, i: number): A => {
  const found = list[i]
  if (found === undefined) {
    throw new RangeError(`nothing at ${i}`)
  }
  return found
}
const encoded = messages.map((message) => encodeMessage(message))

const buffer = new AccountBuffer(() => false)
accounts.forEach((address) => buffer.follow(address))
buffer.answer(buffer.unread(), new Map(accounts.map((address) => [address, { slot: 1, account: null }])))
buffer.end(1)
const follow = (i: number) => {
  const { slot, writes } = decodeMessage(at(encoded, i), (key) => byKey.get(key))
  writes.forEach(([address, state]) => buffer.write(address, state))
  return buffer.end(slot)
}

/** A lease whose first account differs in each revision. */
const leasedBytes = randomBytes(32 * leased)
const revised = Array.from({ length: WARM + slots }, () => Buffer.concat([randomBytes(32), leasedBytes.subarray(32)]))
const relay = new RelayedWrites(() => 1)
relay.lead()
relay.connect()
relay.end(1, 1)
const revise = (i: number) => {
  relay.list(new Map([["reader", { revision: i + 1, accounts: at(revised, i) }]]))
  const asked = Array.from(relay.followed())
  relay.hasFollowed(() => true, 1)
  return [asked, relay.takeAll()]
}

/** Processor time that the server has used, in milliseconds. */
const usedMs = (text: string): number =>
  Array.from(text.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gmu), ([, seconds]) => Number(seconds) * 1000).reduce(
    (sum, each) => sum + each,
    0
  )

const server = Effect.gen(function* () {
  const { port } = yield* startValkey
  const url = `redis://127.0.0.1:${port}`
  const send = yield* makeConnection(url)
  const used = Effect.map(send("INFO", "cpu"), (reply) => usedMs(String(reply)))
  return yield* AccountBus.use(
    Effect.fnUntraced(function* (bus) {
      const begun = yield* used
      for (const [i, entry] of encoded.entries()) {
        yield* bus.append("bench", { after: i, place: i + 1, body: entry })
      }
      const appended = yield* used
      yield* bus.follow("bench", 0).pipe(
        Stream.flatMap(({ entries }) => Stream.fromIterable(entries)),
        Stream.take(encoded.length),
        Stream.runDrain
      )
      const read = yield* used
      const perSlot = (ms: number) => Math.round((ms / encoded.length) * 100) / 100
      return { append: perSlot(appended - begun), read: perSlot(read - appended) }
    })
  ).pipe(Effect.provide(AccountBusValkey.layer(url)))
}).pipe(
  Effect.scoped,
  Effect.catchDefect(() => Effect.succeed(null))
)

report("accounts", {
  writes,
  slots,
  kib: Math.round(at(encoded, 0).length / 1024),
  encode: cost((i) => encodeMessage(at(messages, i), (address) => bytes.get(address) ?? Buffer.alloc(32))),
  follow: cost(follow),
  ignore: cost((i) => decodeMessage(at(encoded, i), () => undefined)),
  leased,
  revise: cost(revise),
  valkey: await Effect.runPromise(server)
})
