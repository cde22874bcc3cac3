import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { findProxyKey, type ProxyPart, rotateProxyKey, submitter } from '../../operations/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { keepOrder } from '../command-orders.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { renderProxyOrder, renderProxyRotation } from '../views/rotation-of-secret.ts'

/** What each activity does, for those who vote on it. */
const DOES: Readonly<Record<ProxyPart, string>> = {
  disable: 'disables the authentication proxy, which deletes its key',
  enable: 'enables the authentication proxy with a new key',
}

/** Gives the authentication proxy another key, after saying for how long nobody can log in through it. */
export async function rotateAuthProxy(input: CommandInput): Promise<ExitCode> {
  const { io, json, settings } = input
  const place = await findPlace(input, { acts: true })
  const client = submitter(place)
  const old = await findProxyKey(client)
  if (!json) io.say(renderProxyOrder(old, io.style))
  await assertConfirmed(input, { question: 'Rotate it?', otherwise: 'nothing was submitted' })
  const rotation = await rotateProxyKey(old, {
    client,
    now: place.now,
    submitted: (part, activityId) =>
      keepOrder(settings.dataDir, { activityId, command: 'rotate auth-proxy', what: DOES[part] }),
  })
  if (json) writeJson(io, rotation)
  else io.out(renderProxyRotation(rotation, io.style))
  if (rotation.state === 'waiting') return EXIT.waiting
  // Disabled and not enabled again: nobody can log in through it.
  if (rotation.state === 'failed') return rotation.part === 'enable' && old ? EXIT.partial : EXIT.error
  return EXIT.done
}
