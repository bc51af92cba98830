import type { FrameRun } from "./frames.ts"

/** A frame without a sequence number. */
export interface Control {
  readonly type: string
  readonly sentAtMs: number
}

/** WebSocket close codes of live connections. */
export type CloseCode = 1001 | 1008 | 1012 | 1013 | 4401 | 4403 | 4409 | 4429

/** Transport of one connection. No method waits. Bytes that cannot be written at once count as unsent. */
export interface LiveWire {
  /** Sends numbered frames in one write. Replayed frames (`again`) do not count as unsent. */
  send(runs: ReadonlyArray<FrameRun>, sentAtMs: number, again?: boolean): void
  /** Sends a frame without a sequence number. */
  sendControl(frame: Control): void
  unsentBytes(): number
  unsentFrames(): number
  ping(): void
  /** Closes the socket once its send buffer is flushed, or after a few seconds. */
  close(code: CloseCode, reason: string): void
}

/** Unsent bytes and frames beyond which a reader is disconnected. */
export const slowLimits = { bytes: 4 * 1024 * 1024, frames: 1000 } as const
