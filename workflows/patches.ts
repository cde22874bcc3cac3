/** Why a change of a workflow that running ones could notice is safe. */
export interface PatchRow {
  /** `YYYY-MM-DD`. */
  readonly date: string
  readonly why: string
}

/**
 * Every change that running workflows could notice, by the id that `patched(id)` is asked with. Ids are never reused:
 * histories hold them for as long as their workflows run.
 */
export const patches: Readonly<Record<string, PatchRow>> = {
  'run-shown': {
    date: '2026-11-26',
    why: 'a run shows its state and what it waits on as search attributes or memo: applies first, and later sends, batches and rotations; asked only where its start says so, and one that a worker of before has begun shows nothing',
  },
  'bounded-history': {
    date: '2026-11-25',
    why: 'a run whose server never suggests a new one goes on as one at 8,192 events; asked only past that, and a run that went past it before goes on as it did',
  },
}
