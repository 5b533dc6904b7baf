package op

import "reflect"

// samples holds the sample inputs of the whole table: each file
// samples_<class>_test.go adds one exported method func (samples) Class() map[Name][]sample.
type samples struct{}

// gradSamples calls every method of samples.
func gradSamples() map[Name][]sample {
	all := map[Name][]sample{}
	v := reflect.ValueOf(samples{})
	for i := range v.NumMethod() {
		for n, s := range v.Method(i).Interface().(func() map[Name][]sample)() {
			all[n] = append(all[n], s...)
		}
	}
	return all
}
