import { assert, describe, it } from "@effect/vitest"
import { Address } from "../../../src/domain/Address.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { key, pack, u32, u64, u8 } from "../../../src/programs/layout/pack.ts"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import {
  deployedProgram,
  deploymentOf,
  HEADER,
  programDataAddress,
  programOf
} from "../../../src/quotes/execution/deployment.ts"
import { makeDeriveAddress } from "../../../src/chain/programAddress.ts"

const derive = makeDeriveAddress()
const { programId } = meteoraDlmm
const upgradeable = Address.make("BPFLoaderUpgradeab1e11111111111111111111111")
const loaderV4 = Address.make("LoaderV411111111111111111111111111111111111")
const finalLoader = Address.make("BPFLoader2111111111111111111111111111111111")
const system = Address.make("11111111111111111111111111111111")
const dataAddress = programDataAddress(programId, derive)
const elf = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 9, 8, 7)

const account = (address: Address, owner: Address, data: Uint8Array): OnChainAccount => ({
  address,
  owner,
  lamports: 1_000_000n,
  data,
  slot: 5
})
const program = account(programId, upgradeable, pack(u32(2), key(dataAddress)))
const dataWith = (slot: bigint, hasAuthority: boolean) =>
  account(dataAddress, upgradeable, pack(u32(3), u64(slot), u8(hasAuthority ? 1 : 0), new Uint8Array(32), elf))
const v4With = (status: bigint) => account(programId, loaderV4, pack(u64(77n), new Uint8Array(32), u64(status), elf))
const reader =
  (...accounts: ReadonlyArray<OnChainAccount>) =>
  (address: Address) =>
    accounts.find((one) => one.address === address) ?? null
const reasonOf = (...accounts: ReadonlyArray<OnChainAccount>): string => {
  const found = deploymentOf(programId, reader(...accounts))
  return "reason" in found ? found.reason : assert.fail("is deployed")
}

describe("a deployment", () => {
  it("has its slot and authority from the header of the ProgramData account", () => {
    const code = { address: dataAddress, offset: 45 }
    for (const hasAuthority of [true, false]) {
      const whole = dataWith(123_456n, hasAuthority)
      const header = { ...whole, data: whole.data.subarray(HEADER.offset, HEADER.length) }
      const found = deploymentOf(programId, reader(program, header))
      assert.deepStrictEqual(found, { slot: 123_456, isImmutable: !hasAuthority, code })
    }
  })

  it("is read under loader v4 from the program account alone", () => {
    const code = { address: programId, offset: 48 }
    assert.deepStrictEqual(deploymentOf(programId, reader(v4With(1n))), { slot: 77, isImmutable: false, code })
    assert.deepStrictEqual(deploymentOf(programId, reader(v4With(2n))), { slot: 77, isImmutable: true, code })
    assert.include(reasonOf(v4With(0n)), "retracted")
  })

  it("has no slot and is immutable under loaders without upgrades", () => {
    const found = deploymentOf(programId, reader(account(programId, finalLoader, elf)))
    assert.deepStrictEqual(found, { slot: null, isImmutable: true, code: { address: programId, offset: 0 } })
  })

  it("is missing, with a reason, when there is no account, when it is closed, and under another loader", () => {
    assert.include(reasonOf(), "no program account")
    assert.include(reasonOf(program), "is closed")
    assert.include(
      reasonOf(program, account(dataAddress, upgradeable, pack(u32(0), new Uint8Array(41)))),
      "not a ProgramData"
    )
    assert.include(reasonOf(account(programId, upgradeable, pack(u32(1), new Uint8Array(32)))), "not a program account")
    assert.include(reasonOf(account(programId, system, new Uint8Array(36))), "an unknown loader")
  })
})

describe("the bytes of a program", () => {
  it("follow the header, with their hash and the slot of the deployment", () => {
    const found = deployedProgram(programId, reader(program, dataWith(9n, true)))
    assert.deepStrictEqual(found, { ...programOf(elf), slot: 9 })
    const inV4 = deployedProgram(programId, reader(v4With(1n)))
    assert.deepStrictEqual(inV4, { ...programOf(elf), slot: 77 })
  })

  it("are missing when the account ends with its header", () => {
    const whole = dataWith(9n, true)
    const found = deployedProgram(programId, reader(program, { ...whole, data: whole.data.subarray(0, 45) }))
    assert.include("reason" in found ? found.reason : "", "is empty")
  })
})
