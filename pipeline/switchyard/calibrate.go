package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"switchyard/sim/hardware"
	"switchyard/stages/calibrate"
	"switchyard/stages/run"
	"switchyard/stages/table"
	"switchyard/stages/trace"
)

func calibrateCommand() *cli.Command {
	return &cli.Command{
		Name:      "calibrate",
		Usage:     "fit a server's step model to measured requests: tables calibration and coefficients",
		ArgsUsage: "TRACE.csv...",
		UsageText: `switchyard calibrate TRACE.csv... [FLAGS]

  switchyard calibrate rate-2.csv rate-4.csv --model qwen3-14b --gpu h100 --engine-set max_num_batched_tokens=8192
  switchyard calibrate rate-2.csv --hold-out rate-4.csv --model qwen3-14b --gpu h100

A trace has the columns arrival_s, prompt_tokens, output_tokens, ttft_s and
e2e_s, and may have cached_tokens and replica. What comes out is the error on
requests and runs that the fit did not see, what the data say about each
coefficient, and a cluster to paste into an experiment file; exit code 1 and no
cluster where even the fitted data are missed by more than 20 %.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "step", Value: calibrate.Forms()[0], Usage: "step model `NAME`: " + strings.Join(calibrate.Forms(), ", ")},
			&cli.StringFlag{Name: "model", Usage: "model `NAME` that the server has; see list models"},
			&cli.StringFlag{Name: "gpu", Usage: "GPU `NAME` that it runs on; see list gpus"},
			&cli.IntFlag{Name: "tensor-parallel", Value: 1, Usage: "`N` GPUs a replica"},
			&cli.StringFlag{Name: "weight-dtype", Value: "bf16", Usage: "data `TYPE` of the weights: bf16, fp8"},
			&cli.StringFlag{Name: "kv-dtype", Value: "bf16", Usage: "data `TYPE` of the KV cache: bf16, fp8"},
			&cli.StringFlag{Name: "scheduler", Value: "vllm-v1", Usage: "scheduler `NAME`; see list schedulers"},
			&cli.StringSliceFlag{Name: "engine-set", Usage: "a setting of the server, repeatable: `NAME=VALUE`, e.g. max_num_batched_tokens=8192; see list schedulers"},
			&cli.StringSliceFlag{Name: "hold-out", Usage: "a measured run that is not fitted but predicted, repeatable: `FILE`"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: filepath.Join("out", "calibration"), Usage: "folder of the tables `DIR`"},
		},
		Action: calibrateAction,
	}
}

func calibrateAction(c *cli.Context) error {
	if c.NArg() == 0 {
		if len(c.StringSlice("hold-out")) > 0 {
			return &coded{run.ExitInput, errors.New("calibrate: every run is held out, expected at least one TRACE.csv to fit to")}
		}
		return exactly(c, 1, 1)
	}
	dir := c.String("out")
	if err := checkOut(dir); err != nil {
		return &coded{run.ExitInput, fmt.Errorf("calibrate: %w", err)}
	}
	server, err := measuredServer(c)
	if err != nil {
		return &coded{run.ExitInput, fmt.Errorf("calibrate: %w", err)}
	}
	runs, err := readMeasured(c, c.Args().Slice())
	if err != nil {
		return &coded{run.ExitInput, fmt.Errorf("calibrate: %w", err)}
	}
	held, err := readMeasured(c, c.StringSlice("hold-out"))
	if err != nil {
		return &coded{run.ExitInput, fmt.Errorf("calibrate: %w", err)}
	}
	result, err := calibrate.Run(c.Context, runs, held, calibrate.Options{
		Step: c.String("step"), Engine: server, Progress: func(what string) { say(c, "calibrate: %s", what) },
	})
	var wrong *calibrate.InputError
	if errors.As(err, &wrong) {
		return &coded{run.ExitInput, fmt.Errorf("calibrate: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	if err := errors.Join(
		result.Write(dir),
		table.WriteViews(dir, schemas(), nil),
		table.WriteDataPackage(dir, "calibration", schemas()),
	); err != nil {
		return err
	}
	if err := result.Print(c.App.Writer); err != nil {
		return err
	}
	say(c, "\nThe tables lie in %s; ask them:\n  %s query %s %q", dir, invoked(), quote(dir),
		`select fit, file, avg(simulated_ttft_us) / avg(ttft_us) - 1 as ttft, avg(simulated_e2e_us) / avg(e2e_us) - 1 as e2e from calibration group by all`)
	if result.Doubt != "" {
		return fmt.Errorf("calibrate: %s", result.Doubt)
	}
	return nil
}

// checkOut refuses, before minutes of fitting, a folder that the tables cannot
// go to: a file, or the folder of an experiment, whose views they would replace.
func checkOut(dir string) error {
	if dir == "" {
		return errors.New("--out is empty, expected a folder")
	}
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("--out is %s, which is a file, expected a folder", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--out is %s, expected a folder: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
		return fmt.Errorf("--out is %s, the folder of an experiment, expected one of its own", dir)
	}
	return nil
}

// measuredServer is what the flags say of the server.
func measuredServer(c *cli.Context) (e calibrate.Engine, err error) {
	e = calibrate.Engine{TensorParallel: c.Int("tensor-parallel"), Scheduler: c.String("scheduler"), Set: c.StringSlice("engine-set"), Utilization: 0.9}
	weights, known := hardware.FindDType(c.String("weight-dtype"))
	kv, too := hardware.FindDType(c.String("kv-dtype"))
	if !known || !too {
		return e, fmt.Errorf("--weight-dtype is %q and --kv-dtype is %q, expected bf16 or fp8", c.String("weight-dtype"), c.String("kv-dtype"))
	}
	if e.TensorParallel < 1 {
		return e, fmt.Errorf("--tensor-parallel is %d, expected at least 1", e.TensorParallel)
	}
	if name := c.String("gpu"); name != "" {
		var known []string
		for _, g := range hardware.GPUs() {
			known = append(known, g.Name)
		}
		var ok bool
		if e.GPU, ok = hardware.FindGPU(name); !ok {
			return e, fmt.Errorf("no GPU %q, expected one of %s%s", name, strings.Join(known, ", "), didYouMean(name, known, ""))
		}
	}
	if name := c.String("model"); name != "" {
		var known []string
		for _, m := range hardware.Models() {
			known = append(known, m.Name)
		}
		var ok bool
		if e.Model, ok = hardware.FindModel(name); !ok {
			return e, fmt.Errorf("no model %q, expected one of %s%s", name, strings.Join(known, ", "), didYouMean(name, known, ""))
		}
		e.Model = e.Model.With(weights, kv)
		if err := e.Model.CheckDegree(e.TensorParallel); err != nil {
			return e, err
		}
	}
	for _, set := range e.Set {
		if !strings.Contains(set, "=") {
			return e, fmt.Errorf("--engine-set is %q, expected NAME=VALUE", set)
		}
	}
	return e, nil
}

// readMeasured reads measured runs and tells what was left out of them.
func readMeasured(c *cli.Context, paths []string) (all []*trace.Measured, err error) {
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		m, err := trace.ReadMeasured(path, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		for _, note := range m.Notes() {
			say(c, "%s", note)
		}
		all = append(all, m)
	}
	return all, nil
}
