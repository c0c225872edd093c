package calibrate

import (
	"math"

	"switchyard/stages/table"
)

// Row is a row of table `calibration`: one request, measured and simulated.
type Row struct {
	Fit       string   `parquet:"fit,dict" doc:"what simulated it; all: the fit to all runs; tenths: that without this tenth of every run; runs: that to the other runs; held-out: that to all runs, which this one is not among"`
	HeldOut   bool     `parquet:"held_out" doc:"whether the fit that simulated it did not know the request"`
	File      string   `parquet:"file,dict" doc:"measured run"`
	Request   int32    `parquet:"request,delta" doc:"index of the request in the run, in order of arrival"`
	Tenth     int32    `parquet:"tenth,dict" doc:"tenth of the run that it belongs to, from 0"`
	ArrivalUs int64    `parquet:"arrival_us,delta" unit:"us" doc:"arrival since the first one"`
	Prompt    int32    `parquet:"prompt_tokens,delta" unit:"token" doc:"tokens of the prompt"`
	Output    int32    `parquet:"output_tokens,delta" unit:"token" doc:"tokens of the output"`
	TTFT      float64  `parquet:"ttft_us" unit:"us" symbol:"TTFT" doc:"measured time to first token"`
	TPOT      *float64 `parquet:"tpot_us" unit:"us" symbol:"TPOT" doc:"measured (E2E - TTFT) / (output - 1); NULL at one output token"`
	E2E       float64  `parquet:"e2e_us" unit:"us" symbol:"E2E" doc:"measured time to the last token"`
	SimTTFT   float64  `parquet:"simulated_ttft_us" unit:"us" doc:"simulated time to first token"`
	SimTPOT   *float64 `parquet:"simulated_tpot_us" unit:"us" doc:"simulated time per output token; NULL at one output token"`
	SimE2E    float64  `parquet:"simulated_e2e_us" unit:"us" doc:"simulated time to the last token"`
	TTFTError float64  `parquet:"ttft_residual_us" unit:"us" doc:"simulated - measured"`
	TPOTError *float64 `parquet:"tpot_residual_us" unit:"us" doc:"simulated - measured; NULL at one output token"`
	E2EError  float64  `parquet:"e2e_residual_us" unit:"us" doc:"simulated - measured"`
}

// Coefficient is a row of table `coefficients`: a fitted number and what the data
// say about it.
type Coefficient struct {
	Name     string   `parquet:"name" doc:"parameter of the step model or of the scheduler"`
	Unit     string   `parquet:"unit" doc:"its unit"`
	Value    float64  `parquet:"value" doc:"fitted value"`
	Error    *float64 `parquet:"standard_error" doc:"standard error of value, by the jackknife over left-out tenths; NULL where at_bound"`
	AtBound  bool     `parquet:"at_bound" doc:"whether the search ended at the least or the greatest value that it allows, so that the data ask for a value beyond"`
	Start    float64  `parquet:"start" doc:"value that the search began with"`
	From     string   `parquet:"start_from" doc:"where start comes from"`
	Alone    float64  `parquet:"noticed_alone" unit:"share" doc:"relative change that the data notice while the other coefficients stay; 10: never, greater ones are not told apart"`
	Together float64  `parquet:"noticed_together" unit:"share" doc:"relative change that they notice while the others compensate as well as they can; 1 and more: not identified"`
	Weakest  float64  `parquet:"weakest_direction" doc:"its component in the direction of relative changes in which the data say least"`
}

// The tables.
var (
	Calibration = table.New[Row]("calibration",
		"One row a request of a measured run and set: its latencies as measured and as simulated by a calibrated server, whose coefficients have the five digits that are printed to be pasted.")
	CoefficientTable = table.New[Coefficient]("coefficients",
		"One row a coefficient of a calibrated server: its value, its error, and what the data say about it.")
)

// Tables lists the tables that the stage writes.
func Tables() []table.Definition { return []table.Definition{Calibration, CoefficientTable} }

// rows turns a comparison into rows.
func rows(set string, r *recording, l latencies) []Row {
	w := r.work
	all := make([]Row, w.Len())
	for i := range all {
		m := &r.measured
		all[i] = Row{
			Fit: set, HeldOut: set != "all", File: r.name, Request: int32(i), Tenth: int32(r.part(i)), ArrivalUs: w.ArrivalUs[i],
			Prompt: w.Prompt[i], Output: w.Output[i], TTFT: m.ttft[i], E2E: m.e2e[i], SimTTFT: l.ttft[i], SimE2E: l.e2e[i],
			TTFTError: l.ttft[i] - m.ttft[i], E2EError: l.e2e[i] - m.e2e[i],
		}
		if !math.IsNaN(m.tpot[i]) {
			measured, simulated, off := m.tpot[i], l.tpot[i], l.tpot[i]-m.tpot[i]
			all[i].TPOT, all[i].SimTPOT, all[i].TPOTError = &measured, &simulated, &off
		}
	}
	return all
}

// Write writes the tables into a folder.
func (r *Result) Write(dir string) error {
	p := table.Provenance{Experiment: "calibration"}
	if err := Calibration.Write(dir, r.Rows, p); err != nil {
		return err
	}
	return CoefficientTable.Write(dir, r.Coefficients, p)
}
