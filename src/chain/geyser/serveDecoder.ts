/** The thread behind `DecoderThreads.ts`: decodes the transactions of slots, and packs slots that are whole. */
import { parentPort } from "node:worker_threads"
import { lowerThreadPriority } from "../blocks/threadPriority.ts"
import type { DecoderCommand, DecoderReply } from "./geyserMessages.ts"
import { decodersHere, type OpenDecoding, type SlotDecoder } from "./slotDecoding.ts"
import { readBatch } from "./updateBatches.ts"

/** Decodes for the thread that started this one, until it is terminated. Only the entry of a worker calls it. */
export const serveDecoder = <Message>(decoder: SlotDecoder<Message>): void => {
  const port = parentPort
  if (port === null) {
    return
  }
  lowerThreadPriority()
  const decoders = decodersHere(decoder)
  const open = new Map<number, OpenDecoding>()
  const post = (reply: DecoderReply<Message>, transfer: Array<ArrayBuffer> = []) => port.postMessage(reply, transfer)
  const decodingAt = (decoding: number, slot: number): OpenDecoding => {
    const known = open.get(decoding)
    if (known !== undefined) {
      return known
    }
    const opened = decoders.open(slot, (packed) => {
      open.delete(decoding)
      post({ _tag: "packed", decoding, packed }, packed?.transfer)
    })
    open.set(decoding, opened)
    return opened
  }
  port.on("message", (command: DecoderCommand) => {
    switch (command._tag) {
      case "decode": {
        const { bytes, decoding, indexes, slot } = command
        const opened = decodingAt(decoding, slot)
        let place = 0
        readBatch(bytes, (info) => {
          const index = indexes[place++]
          if (index !== undefined) {
            opened.decode(index, info)
          }
        })
        return post({ _tag: "read", bytes: bytes.length })
      }
      case "pack":
        return decodingAt(command.decoding, command.whole.head.slot).pack(command.whole)
      case "drop":
        open.delete(command.decoding)
    }
  })
}
