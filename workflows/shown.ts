/** Shows whoever lists workflows at Temporal how a run stands and on which activities it waits. */
import { condition, patched, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow'
import type { ApplyProgress } from '../activities/model.ts'
import type { ApplyInput } from './inputs.ts'
import { SEARCH_ATTRIBUTES } from './names.ts'

/** Makes a function that shows a run once more where it stands otherwise than before. */
export function createShow(
  {
    shownBy,
    organizationId,
    planDigest,
    commit,
  }: Pick<ApplyInput, 'shownBy' | 'organizationId' | 'planDigest' | 'commit'>,
  progress: () => ApplyProgress,
): { readonly now: () => void; readonly changes: () => Promise<void> } {
  const nothing = { now: () => {}, changes: async () => {} }
  // An older worker may have begun it, and shown nothing.
  if (shownBy === undefined || !patched('run-shown')) return nothing
  const { organization, plan, state, waitingOn } = SEARCH_ATTRIBUTES
  // A client's memo could not be read by a client: what it reads, a workflow has made.
  const about = {
    [organization.name]: organizationId,
    [plan.name]: planDigest,
    ...(commit === undefined ? {} : { [SEARCH_ATTRIBUTES.commit.name]: commit }),
  }
  const stand = () => {
    const { state: word, batches } = progress()
    const waiting = batches.flatMap((one) => (one.state === 'waiting' && one.activityId ? [one.activityId] : []))
    return { word, waiting }
  }
  let before = ''
  const now = () => {
    const { word, waiting } = stand()
    const text = JSON.stringify([word, waiting])
    if (text === before) return
    before = text
    if (shownBy === 'memo') upsertMemo({ ...about, [state.name]: word, [waitingOn.name]: waiting })
    else
      upsertSearchAttributes([
        { key: state, value: word },
        { key: waitingOn, value: waiting },
      ])
  }
  return {
    now,
    async changes() {
      for (;;) {
        now()
        await condition(() => {
          const { word, waiting } = stand()
          return JSON.stringify([word, waiting]) !== before
        })
      }
    },
  }
}
