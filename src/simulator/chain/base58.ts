/** Base58 of long data, nine digits at a time: a byte-wise encoder takes most of a transaction's time. */

const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const CHUNK = 9
/** 58^9, the largest power whose remainders a double holds. */
const POWER = 58n ** 9n

const digitsOf = (value: number, count: number): string => {
  let text = ""
  for (let rest = value, left = count; left > 0 || rest > 0; left--) {
    text = (DIGITS[rest % 58] ?? "") + text
    rest = Math.floor(rest / 58)
  }
  return text
}

/** The bytes as base58. */
export const toBase58 = (bytes: Uint8Array): string => {
  let zeros = 0
  while (bytes[zeros] === 0) {
    zeros += 1
  }
  if (zeros === bytes.length) {
    return "1".repeat(zeros)
  }
  let rest = BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`)
  let text = ""
  while (rest >= POWER) {
    text = digitsOf(Number(rest % POWER), CHUNK) + text
    rest /= POWER
  }
  return "1".repeat(zeros) + digitsOf(Number(rest), 0) + text
}
