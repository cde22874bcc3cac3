/**
 * Whether the bytes of a send may go out, for when a batch is stopped while they wait for their turn. Of a stopped send it is
 * said that nothing of it was submitted, and its reference is free again: that must stay true, whatever dies or wakes late.
 *
 * A request holds the gate of its bytes, and gives it back only where the API has certainly not taken it up. A process that
 * finds the gate held cannot know what became of that request, and settles that the API may know the bytes (`maybe`):
 * from then on they go out as often as it takes. A process that stops the send takes the gate too, and settles that
 * they never go out (`never`). This is settled once, and each line below may be the last that its process carries out.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Records } from './records.ts'
import { fileNameOf } from './store-files.ts'

export interface SendGates {
  /** Takes the gate of a send: true if its bytes may go out, false if they never may. `isStopped` is called with the gate held. */
  open(fingerprint: string, isStopped: () => Promise<boolean>): Promise<OpenGate | false>
  /** Makes sure that the bytes are never sent, and returns true; false where they may have been sent. */
  shut(fingerprint: string): Promise<boolean>
}

export interface OpenGate {
  /** Gives the gate back; only where the API has certainly not accepted the request. */
  giveBack(): Promise<void>
}

const SHUT = 'stopped'

/** Makes the gates in the plan store's folder. */
export function createSendGates(folder: string, { claim, read, remove }: Records): SendGates {
  const at = (shelf: string, fingerprint: string) => join(folder, shelf, fileNameOf(fingerprint))
  const gateOf = (fingerprint: string) => at('send-gates', fingerprint)
  const settledOf = (fingerprint: string) => at('send-gates-settled', fingerprint)
  const first = async (path: string, text: string) => {
    await claim(path, text)
    return (await read(path)) === text
  }
  const isNever = (fingerprint: string) => first(settledOf(fingerprint), 'never')
  const isMaybe = (fingerprint: string) => first(settledOf(fingerprint), 'maybe')
  const unowned: OpenGate = { giveBack: async () => {} }

  return {
    async open(fingerprint, isStopped) {
      const settled = await read(settledOf(fingerprint))
      if (settled !== undefined) return settled === 'maybe' && unowned
      const gate = gateOf(fingerprint)
      if (!(await first(gate, randomUUID()))) return (await isMaybe(fingerprint)) && unowned
      if ((await isStopped()) && (await isNever(fingerprint))) return false
      return {
        async giveBack() {
          // INVARIANT: held by nobody else. Who found it held in the meantime has settled it, which outlives the gate.
          if ((await read(settledOf(fingerprint))) === undefined) await remove(gate)
        },
      }
    },
    async shut(fingerprint) {
      const gate = gateOf(fingerprint)
      await claim(gate, SHUT)
      return (await read(gate)) === SHUT && (await isNever(fingerprint))
    },
  }
}
