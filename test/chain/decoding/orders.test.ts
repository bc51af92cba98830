import { assert, describe, it } from "@effect/vitest"
import { Address, SOL, USDC } from "../../../src/domain/Address.ts"
import { named, type Plan, sendLamports, TOKEN, TRADER, transfer } from "./transactions.ts"
import {
  decode,
  dlmmSwap,
  held,
  holdings,
  jupiter,
  KEEPER,
  program,
  raydiumSwap,
  SOL_TO_TOKEN,
  tradesOf,
  USDC_TO_SOL
} from "./twoPools.ts"

const LIMIT = Address.make("jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu")
const LIMIT_2 = Address.make("j1o2qRpjcyUwEvwtcfhEQefh773ZgjxcVRry7LDqg5X")
const DCA = Address.make("DCA265Vj8a9CEuX1eb1LWRnDT7uK6q1xMipnNyatn23M")
describe("an order that a keeper fills", () => {
  const keeperRoute = jupiter([
    dlmmSwap("keeper usdc", KEEPER, "keeper sol", 1000n, 200n),
    raydiumSwap("keeper sol", KEEPER, "keeper token", 200n, 50n)
  ])
  const takeOut = transfer(named("order usdc"), named("keeper usdc"), named("order"), 1000n)
  const payOwner = transfer(named("keeper token"), named("my token"), KEEPER, 49n)
  const byKeeper: Partial<Plan> = { signers: [KEEPER] }
  const filled = {
    legs: [USDC_TO_SOL(TRADER), SOL_TO_TOKEN(TRADER)],
    nets: [[TRADER, "buy", 49n, TOKEN, 1000n, USDC, [0, 1]]]
  }

  it("belongs once to its owner: Jupiter's first limit orders", () => {
    const calls = [
      program(LIMIT, [named("order"), named("order usdc"), KEEPER], "f02f99440dbee12a", [takeOut]),
      keeperRoute,
      program(LIMIT, [named("order"), named("order usdc"), TRADER, KEEPER], "fc681286a44e128c", [payOwner])
    ]
    assert.deepStrictEqual(tradesOf(decode(calls, byKeeper)), filled)
  })

  it("belongs once to its owner: Jupiter's second limit orders, paid in lamports", () => {
    const calls = [
      program(LIMIT_2, [KEEPER, named("order")], "f02f99440dbee12a", [takeOut]),
      jupiter([dlmmSwap("keeper usdc", KEEPER, "keeper sol", 1000n, 200n)]),
      program(LIMIT_2, [KEEPER, TRADER, named("order")], "fc681286a44e128c", [sendLamports(KEEPER, TRADER, 199n)])
    ]
    assert.deepStrictEqual(tradesOf(decode(calls, byKeeper)), {
      legs: [USDC_TO_SOL(TRADER)],
      nets: [[TRADER, "buy", 199n, SOL, 1000n, USDC, [0]]]
    })
  })

  it("belongs once to its owner: a DCA that pays in the same transaction", () => {
    const toOrder = jupiter([
      dlmmSwap("keeper usdc", KEEPER, "keeper sol", 1000n, 200n),
      raydiumSwap("keeper sol", KEEPER, "order token", 200n, 50n)
    ])
    const calls = [
      program(DCA, [KEEPER, named("order")], "8fcd03bfa2d7f531", [takeOut]),
      toOrder,
      program(DCA, [KEEPER, named("order")], "7340e24e21d369a2", []),
      program(DCA, [KEEPER, named("order"), TRADER], "a334c8e78c0345ba", [
        transfer(named("order token"), named("my token"), named("order"), 49n)
      ])
    ]
    const order = held(named("order"), "order token", TOKEN)
    const decoded = tradesOf(decode(calls, { ...byKeeper, holdings: [...holdings, order] }))
    // One unit stays with the order, which also belongs to the owner.
    assert.deepStrictEqual(decoded, { ...filled, nets: [[TRADER, "buy", 50n, TOKEN, 1000n, USDC, [0, 1]]] })
  })

  it("belongs to the order's account when the transaction names no owner", () => {
    const calls = [
      program(DCA, [KEEPER, named("order")], "8fcd03bfa2d7f531", [takeOut]),
      jupiter([dlmmSwap("keeper usdc", KEEPER, "order sol", 1000n, 200n)]),
      program(DCA, [KEEPER, named("order")], "7340e24e21d369a2", [])
    ]
    const order = held(named("order"), "order sol", SOL)
    assert.deepStrictEqual(tradesOf(decode(calls, { ...byKeeper, holdings: [...holdings, order] })), {
      legs: [USDC_TO_SOL(named("order"))],
      nets: [[named("order"), "buy", 200n, SOL, 1000n, USDC, [0]]]
    })
  })

  it("is kept apart from another order in the same transaction", () => {
    const second = named("second order")
    const other = named("other owner")
    const more = [held(second, "second usdc", USDC), held(other, "other sol", SOL)]
    const calls = [
      program(LIMIT, [named("order"), named("order usdc"), KEEPER], "f02f99440dbee12a", [takeOut]),
      keeperRoute,
      program(LIMIT, [named("order"), named("order usdc"), TRADER, KEEPER], "fc681286a44e128c", [payOwner]),
      program(LIMIT, [second, named("second usdc"), KEEPER], "f02f99440dbee12a", [
        transfer(named("second usdc"), named("keeper usdc"), second, 500n)
      ]),
      jupiter([dlmmSwap("keeper usdc", KEEPER, "keeper sol", 500n, 90n)]),
      program(LIMIT, [second, named("second usdc"), other, KEEPER], "fc681286a44e128c", [
        transfer(named("keeper sol"), named("other sol"), KEEPER, 89n)
      ])
    ]
    assert.deepStrictEqual(tradesOf(decode(calls, { ...byKeeper, holdings: [...holdings, ...more] })), {
      legs: [...filled.legs, [other, "buy", 90n, SOL, 500n, USDC]],
      nets: [...filled.nets, [other, "buy", 89n, SOL, 500n, USDC, [2]]]
    })
  })
})
