/** Whether the time that asking for a code takes tells a contact that is a user's from one that is nobody's. */
import { complete, fresh, makeUser } from '../service/handlers/steps.ts'
import { createTestClock, startTestService } from '../service/harness.ts'

/** Users that an organization has beside its first: each is asked for in turn. */
const USERS = 50
/** Later than any limit of codes. */
const LATER_MS = 601_000

/** Asks for a code so many times of either sort, in turns, and compares the ranks of the times (Mann-Whitney). */
export async function timeContacts({ count }: { readonly count: number }) {
  const clock = createTestClock()
  const service = await startTestService({ clock })
  try {
    const known: string[] = []
    for (let at = 0; at < USERS; at++) {
      const userEmail = `${fresh('known')}@example.com`
      await makeUser(service.root, { userEmail })
      known.push(userEmail)
    }
    const ask = async (contact: string) => {
      const begun = performance.now()
      await complete(service.root, 'ACTIVITY_TYPE_INIT_OTP_V3', { otpType: 'OTP_TYPE_EMAIL', contact, appName: 'x' })
      return performance.now() - begun
    }
    const times: { readonly ms: number; readonly isKnown: boolean }[] = []
    for (let at = 0; at < count; at++) {
      const sorts = at % 2 === 0 ? [true, false] : [false, true]
      for (const isKnown of sorts) {
        const contact = isKnown ? known[at % USERS]! : `${fresh('nobody')}@example.com`
        times.push({ ms: await ask(contact), isKnown })
      }
      clock.advance(LATER_MS)
    }
    const ranks = times.toSorted((a, b) => a.ms - b.ms).flatMap(({ isKnown }, rank) => (isKnown ? [rank + 1] : []))
    const u = ranks.reduce((sum, rank) => sum + rank, 0) - (count * (count + 1)) / 2
    const z = (u - count ** 2 / 2) / Math.sqrt((count ** 2 * (2 * count + 1)) / 12)
    return { count, z: Number(z.toFixed(2)), tells: Math.abs(z) > 4 ? 1 : 0 }
  } finally {
    await service.close()
  }
}
