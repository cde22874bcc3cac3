import { parseStorePlace } from '../../../activities/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { pushFolder } from '../../operations/index.ts'
import { editedText } from '../../plan/index.ts'
import { assertPlanStore, hasPlanStore } from '../background/plan-store-place.ts'
import type { CommandInput } from '../command.ts'
import { assertNoKeys } from '../files.ts'
import { givenValues } from '../given.ts'
import { writeJson } from '../io.ts'
import { findPlaceOf } from '../place-of.ts'
import { line } from '../screen.ts'
import { showDiagnostics } from '../views/diagnostics.ts'

/** Signs a folder of definitions and puts it into the plan store, for organizations that are watched from there. */
export async function push(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, settings } = input
  const { planStore, ...others } = settings
  const isOwn = hasPlanStore(settings.dataDir)
  if (isOwn) assertPlanStore(settings)
  // A pipeline has no data folder that says where the plan store is, and needs no key of it: the variable says it.
  const storePlace = planStore && !isOwn ? parseStorePlace(planStore.reveal()) : undefined
  const place = await findPlaceOf(storePlace ? { ...input, settings: others } : input, args[0] ?? '.', {
    acts: true,
  })
  const pushed = await pushFolder(
    {
      folder: args[0] ?? '.',
      place,
      given: givenValues(input, place.embedded),
      dataDir: settings.dataDir,
      storePlace,
      check: assertNoKeys,
    },
    (diagnostics) => showDiagnostics(input, diagnostics),
  )
  if (!pushed) return EXIT.error
  if (json) writeJson(io, pushed)
  else {
    const { organization, definitions, files, signedBy, pushedAt, commit, uncommitted } = pushed
    const of = commit === undefined ? '' : line`\n  commit     ${commit}${editedText(uncommitted)}`
    io.out(
      line`Pushed ${organization}, ${files.length} ${files.length === 1 ? 'file' : 'files'}, at ${pushedAt}.\n  digest     sha256:${definitions}\n  signed by  ${signedBy}` +
        `${of}\n`,
    )
    io.say(line`A watch takes it from there: quorate watch add --from push --signer ${signedBy}\n`)
  }
  return EXIT.done
}
