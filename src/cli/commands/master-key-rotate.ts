import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { readRotationOfFolder, rotateKeyOfFolder } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { readDatabase } from '../database-options.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'

/** Puts a new master key beside the old one, for the service to take up. */
export async function rotateMasterKey(input: CommandInput): Promise<ExitCode> {
  const { io, json, environment } = input
  const { name, keeper, file } = await rotateKeyOfFolder(serviceFolder(input), { environment })
  if (json) writeJson(io, { key: name, keeper, file })
  else {
    io.out(line`A new master key stands in ${file}, ${keeper === 'none' ? 'plain' : `wrapped by ${keeper}`}.\n`)
    io.say(
      'A service that runs takes it up within a second, one that does not at its next start. With several processes on one PostgreSQL, copy the file into the folder of each: until all have it, the old key seals. `quorate master-key status` says how far it is.\n',
    )
  }
  return EXIT.done
}

const STEPS = {
  announced: 'processes learn the new key; the old one seals',
  used: 'the new key seals in those that have it',
  resealing: 'what the old key has sealed is sealed anew',
  done: 'nothing is sealed under the old key',
} as const

/** Says how far the change of the master key is. */
export async function showMasterKey(input: CommandInput): Promise<ExitCode> {
  const { io, json } = input
  const { isNextThere, rotation, holders } = await readRotationOfFolder(serviceFolder(input), readDatabase(input))
  const isDone = !isNextThere && (rotation === undefined || rotation.step === 'done')
  const lacking = rotation ? holders.filter(({ opens }) => !opens.includes(rotation.to)) : []
  if (json) writeJson(io, { isDone, isNextThere, ...(rotation ? { rotation } : {}), holders, lacking })
  else if (!rotation) {
    io.out(
      isNextThere ? 'A new master key waits for the service to take it up.\n' : 'The master key was never changed.\n',
    )
  } else {
    const { step, from, to, since, pass, values, resealedInAll, broken } = rotation
    io.out(
      line`${STEPS[step]}\n  from         ${from}\n  to           ${to}\n  since        ${new Date(since).toISOString()}\n` +
        line`  sealed anew  ${resealedInAll} values\n  pass ${pass}       ${values} values looked at\n`,
    )
    if (step === 'done') io.out(line`  old key      0 of ${values} values\n`)
    if (broken > 0) io.out(line`  damaged      ${broken} values open under neither key, and stay as they were\n`)
    for (const { kind, place } of lacking) io.out(line`  waits for    ${kind} on ${place}, which lacks key ${to}\n`)
    if (lacking.length > 0)
      io.say('It goes on once each of them has the new key: copy `master.key.next` into its folder, or end it.\n')
    if (step === 'done' && isNextThere)
      io.say('The service of this folder has yet to put the new key into its place.\n')
  }
  return isDone ? EXIT.done : EXIT.waiting
}
