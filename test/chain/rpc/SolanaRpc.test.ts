import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import { at, manyAddresses, OWNER } from "../accounts/accounts.ts"
import { type ReceivedCall, error, inNoTime, Node, ok, status, use } from "./scriptedHttp.ts"

const account = { owner: OWNER, lamports: 1, data: ["AQ==", "base64"], space: 1 }
const inContext = (slot: number, value: unknown) => ok({ context: { slot }, value })
const listOf = ({ params }: ReceivedCall): ReadonlyArray<Address> =>
  Schema.decodeUnknownSync(Schema.Array(Schema.Any))(params[0])

describe("many accounts", () => {
  const addresses = manyAddresses(730)

  it.effect("are read a hundred at a time in four concurrent requests, each with the slot of its answer", () =>
    Effect.gen(function* () {
      const node = new Node(
        (asked, times) =>
          inContext(
            50 + times,
            listOf(asked).map(() => account)
          ),
        Duration.seconds(1)
      )
      const { states, malformed } = yield* inNoTime(use(node, (rpc) => rpc.getMultipleAccounts(addresses)))

      assert.deepStrictEqual(Array.from(states.keys()), addresses)
      assert.deepStrictEqual(malformed, [])
      assert.deepStrictEqual(
        node.asked.map((asked) => listOf(asked).length),
        [100, 100, 100, 100, 100, 100, 100, 30]
      )
      assert.strictEqual(node.mostInFlight, 4)
      node.asked.forEach((asked, index) => {
        for (const address of listOf(asked)) {
          assert.strictEqual(states.get(address)?.slot, 50 + index)
          assert.strictEqual(states.get(address)?.account?.slot, 50 + index)
        }
      })
    })
  )

  it.effect("can be requested as of a minimum slot", () =>
    Effect.gen(function* () {
      const node = new Node((asked) =>
        inContext(
          60,
          listOf(asked).map(() => null)
        )
      )
      yield* use(node, (rpc) => rpc.getMultipleAccounts([at(1)], { minContextSlot: 55 }))
      assert.deepStrictEqual(node.asked[0]?.params[1], {
        commitment: "confirmed",
        encoding: "base64",
        minContextSlot: 55
      })
    })
  )

  it.effect("are present, absent or malformed", () =>
    Effect.gen(function* () {
      const node = new Node(() => inContext(60, [account, null, { ...account, data: ["*", "base64"] }]))
      const { states, malformed } = yield* use(node, (rpc) => rpc.getMultipleAccounts([at(1), at(2), at(3)]))

      assert.deepStrictEqual(states.get(at(1))?.account?.data, Uint8Array.of(1))
      assert.deepStrictEqual(states.get(at(2)), { slot: 60, account: null })
      assert.deepStrictEqual(malformed, [at(3)])
    })
  )

  it.effect("fail as invalid when the node returns a different number of accounts", () =>
    Effect.gen(function* () {
      const node = new Node(() => inContext(60, [account]))
      const refused = yield* Effect.flip(use(node, (rpc) => rpc.getMultipleAccounts([at(1), at(2)])))
      assert.strictEqual(refused.reason, "invalid")
    })
  )

  it.effect("fail when one of the requests fails", () =>
    Effect.gen(function* () {
      const node = new Node((asked, times) =>
        times === 3
          ? status(403)
          : inContext(
              60,
              listOf(asked).map(() => null)
            )
      )
      const refused = yield* Effect.flip(use(node, (rpc) => rpc.getMultipleAccounts(addresses)))
      assert.strictEqual(refused.detail, "getMultipleAccounts: HTTP 403")
    })
  )
})

describe("one account", () => {
  it.effect("is read with its slot", () =>
    Effect.gen(function* () {
      const state = yield* use(new Node(() => inContext(60, account)), (rpc) => rpc.getAccountInfo(at(1)))
      assert.deepStrictEqual(state.account, {
        address: at(1),
        owner: OWNER,
        lamports: 1n,
        data: Uint8Array.of(1),
        slot: 60
      })
    })
  )

  it.effect("fails as invalid when it is malformed", () =>
    Effect.gen(function* () {
      const node = new Node(() => inContext(60, { ...account, space: 2 }))
      assert.strictEqual((yield* Effect.flip(use(node, (rpc) => rpc.getAccountInfo(at(1))))).reason, "invalid")
    })
  )
})

describe("a program's accounts", () => {
  const query = { programId: OWNER, dataSize: 9, matches: [{ offset: 4, bytes: Uint8Array.of(1, 2) }] }

  it.effect("are searched by size and bytes", () =>
    Effect.gen(function* () {
      const node = new Node(() => inContext(60, [{ pubkey: at(1), account }]))
      const { accounts, slot } = yield* use(node, (rpc) => rpc.getProgramAccounts(query))

      assert.deepStrictEqual([slot, Array.from(accounts.keys())], [60, [at(1)]])
      assert.deepStrictEqual(node.asked[0]?.params, [
        OWNER,
        {
          commitment: "confirmed",
          encoding: "base64",
          withContext: true,
          filters: [{ dataSize: 9 }, { memcmp: { offset: 4, bytes: "AQI=", encoding: "base64" } }]
        }
      ])
    })
  )

  it.effect("fail as a whole when one is malformed, because a partial answer is no answer", () =>
    Effect.gen(function* () {
      const broken = { pubkey: at(2), account: { ...account, data: ["*", "base64"] } }
      const node = new Node(() => inContext(60, [{ pubkey: at(1), account }, broken]))
      assert.strictEqual((yield* Effect.flip(use(node, (rpc) => rpc.getProgramAccounts(query)))).reason, "invalid")
    })
  )
})

describe("the health of a node", () => {
  it.effect("is good when the node reports ok, and bad otherwise", () =>
    Effect.gen(function* () {
      yield* use(new Node(() => ok("ok")), (rpc) => rpc.getHealth())
      const bad = yield* inNoTime(Effect.flip(use(new Node(() => error(-32005, "behind")), (rpc) => rpc.getHealth())))
      assert.strictEqual(bad.reason, "unreachable")
    })
  )
})

const listed = (slots: ReadonlyArray<unknown>) => use(new Node(() => ok(slots)), (rpc) => rpc.getBlocksWithLimit(50, 4))

describe("the slots that have a block", () => {
  it.effect("are listed in order, and the oldest is reported", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* listed([50, 52, 57]), [50, 52, 57])
      assert.deepStrictEqual(yield* listed([]), [])
      assert.strictEqual(yield* use(new Node(() => ok(7)), (rpc) => rpc.getFirstAvailableBlock()), 7)
    })
  )

  it.effect("are rejected when out of order, before the first requested slot, or not slots at all", () =>
    Effect.gen(function* () {
      for (const slots of [[52, 51], [52, 52], [49, 50], [50, "51"], [50.5]]) {
        assert.strictEqual((yield* Effect.flip(listed(slots))).reason, "invalid")
      }
    })
  )
})
