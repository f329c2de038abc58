export type { Disk, DiskProblem } from './disk.ts'
export {
  acquireLease,
  type Holder,
  type Lease,
  type LeaseLost,
  type LeaseOptions,
  type LeasePorts,
  type LeaseResult,
  type LeaseState,
} from './lease.ts'
export type { Processes, ProcessMark } from './processes.ts'
export type { RecordProblem } from './record-lines.ts'
export {
  type AppendResult,
  type FlushResult,
  type OpenResult,
  openWriter,
  type SyncFailed,
  type TranscriptWriter,
  type WriterOptions,
} from './writer.ts'
