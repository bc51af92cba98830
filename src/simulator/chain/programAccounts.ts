/** The accounts of programs deployed under the upgradeable loader. */
import { type Address, addressToBytes } from "../../domain/Address.ts"
import { key, pack, u32, u64, u8 } from "../../programs/layout/pack.ts"
import { UPGRADEABLE_LOADER } from "./addresses.ts"
import { rentExempt } from "./tokens.ts"
import type { World } from "./World.ts"

const PROGRAM = 2
const PROGRAM_DATA = 3

/** First bytes of every program. Nothing executes them, because the simulator computes what programs do. */
const EMPTY_ELF = Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0)

/** Deploys a program at this slot, or upgrades it. */
export const deployProgram = (
  { bank, derive }: { readonly bank: Pick<World["bank"], "put">; readonly derive: World["derive"] },
  programId: Address,
  slot: number,
  elf: Uint8Array = EMPTY_ELF
): void => {
  const dataAddress = derive(UPGRADEABLE_LOADER, [addressToBytes(programId)])
  const program = pack(u32(PROGRAM), key(dataAddress))
  const data = pack(u32(PROGRAM_DATA), u64(BigInt(slot)), u8(1), key(programId), elf)
  for (const [address, bytes] of [
    [programId, program],
    [dataAddress, data]
  ] as const) {
    bank.put({ address, owner: UPGRADEABLE_LOADER, lamports: rentExempt(bytes.length), data: bytes })
  }
}
